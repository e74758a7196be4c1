/** Swipes in a conversation on a small screen: towards the end of the line leaves it, towards its beginning, on a message, replies.
 *
 *  What goes up or down is scrolling and never taken: the first ten pixels decide, for the whole touch. Nor is a touch taken that
 *  begins where something else moves sideways, in a text field, or while text is selected. The page says `touch-action: pan-y`
 *  there, so the browser leaves the rest to us. What is swiped follows the finger, unless the person asks for less motion. */

export interface Swipes {
    back: () => void
    /** Null: whoever is here only reads. */
    reply: ((messageId: number) => void) | null
}

/** Where it is decided which way it goes, and how far it must go. */
const DECIDED = 10
export const FAR = 64
const FARTHEST = 88

export type Way = 'undecided' | 'along' | 'sideways'

export function wayOf(x: number, y: number): Way {
    if (Math.hypot(x, y) < DECIDED) return 'undecided'
    return Math.abs(x) > 2 * Math.abs(y) ? 'sideways' : 'along'
}

interface Touched {
    id: number
    x: number
    y: number
    way: Way
    message: HTMLElement | null
    /** -1 where lines begin on the right. */
    sign: 1 | -1
    moved: number
}

/** Returns the function that stops it. */
export function takeSwipes(talk: HTMLElement, act: Swipes): () => void {
    const small = matchMedia('(max-width: 760px)')
    const calm = matchMedia('(prefers-reduced-motion: reduce)')
    let touched: Touched | null = null

    function begin(event: TouchEvent) {
        end()
        const [touch] = event.touches
        if (!touch || event.touches.length > 1 || !small.matches || !(event.target instanceof Element)) return
        if (isTaken(event.target, talk)) return
        touched = {
            id: touch.identifier,
            x: touch.clientX,
            y: touch.clientY,
            way: 'undecided',
            message: act.reply && event.target.closest<HTMLElement>('[data-message]'),
            sign: getComputedStyle(talk).direction === 'rtl' ? -1 : 1,
            moved: 0,
        }
    }

    function move(event: TouchEvent) {
        const touch = [...event.touches].find((each) => each.identifier === touched?.id)
        if (!touched || !touch || event.touches.length > 1) return end()
        const x = touch.clientX - touched.x
        if (touched.way === 'undecided') touched.way = wayOf(x, touch.clientY - touched.y)
        if (touched.way === 'along') return end()
        if (touched.way === 'undecided') return
        const before = touched.moved
        touched.moved = x * touched.sign
        const isFar = (moved: number) => moved >= FAR || (moved <= -FAR && act.reply !== null)
        if (!isFar(before) && isFar(touched.moved)) navigator.vibrate?.(8)
        follow(touched)
    }

    /** The message goes along with a reply; the way back has nothing to show until it is gone. */
    function follow({ message, moved, sign }: Touched) {
        if (!message || calm.matches) return
        const by = Math.max(-FARTHEST, Math.min(0, moved))
        message.style.transform = by ? `translateX(${by * sign}px)` : ''
        message.toggleAttribute('data-swiped', moved <= -FAR)
    }

    function end() {
        if (touched?.message) {
            touched.message.style.transform = ''
            touched.message.removeAttribute('data-swiped')
        }
        touched = null
    }

    function release() {
        const { way, moved, message } = touched ?? { way: 'along', moved: 0, message: null }
        end()
        if (way !== 'sideways') return
        if (moved >= FAR) act.back()
        else if (moved <= -FAR && message) act.reply?.(Number(message.dataset['message']))
    }

    const listeners = { touchstart: begin, touchmove: move, touchend: release, touchcancel: end } as const
    for (const [name, listener] of Object.entries(listeners))
        talk.addEventListener(name, listener as EventListener, { passive: true })
    return () => {
        end()
        for (const [name, listener] of Object.entries(listeners))
            talk.removeEventListener(name, listener as EventListener)
    }
}

/** What a finger does there is something else already. */
function isTaken(target: Element, talk: Element): boolean {
    const above = 'dialog, [popover], [role=dialog]' // a picture that is looked at, a menu, a question
    const own = 'input, textarea, [contenteditable], audio, video'
    if (!(getSelection()?.isCollapsed ?? true) || target.closest(`${own}, ${above}`)) return true
    for (let each: Element | null = target; each && each !== talk; each = each.parentElement) {
        const moves = ['auto', 'scroll'].includes(getComputedStyle(each).overflowX)
        if (moves && each.scrollWidth > each.clientWidth) return true
    }
    return false
}
