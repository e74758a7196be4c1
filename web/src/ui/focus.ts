/** The focus is never lost: what had it may go, and then something near has it. */

const PRESSED = 'a[href], button:not(:disabled)'

/** Back to where it was before something opened; to the page where that is gone by now. */
export function giveBack(before: Element | null): void {
    const to = before?.isConnected ? before : document.querySelector('main')
    if (to instanceof HTMLElement) to.focus({ preventScroll: to !== before })
}

/** For a list whose lines go when one is done with them: who was in the one that went is in the one in its place, at the
 *  first thing to press; after the last one, at what holds the list. In a component: `<ul {@attach keepsFocus}>`. */
export function keepsFocus(list: HTMLElement): () => void {
    let at = -1
    const note = (event: FocusEvent) => {
        at = [...list.children].findIndex((line) => line.contains(event.target as Node))
    }
    const watch = new MutationObserver(() => {
        if (at === -1 || document.activeElement !== document.body) return
        const line = list.children[Math.min(at, list.children.length - 1)]
        const next = line?.matches(PRESSED) ? line : line?.querySelector(PRESSED)
        const to = (next as HTMLElement | null | undefined) ?? list.closest<HTMLElement>('[tabindex]')
        to?.focus()
    })
    list.addEventListener('focusin', note)
    watch.observe(list, { childList: true })
    return () => {
        list.removeEventListener('focusin', note)
        watch.disconnect()
    }
}
