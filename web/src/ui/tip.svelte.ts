/** Tooltips: `<button {@attach tip('Reply', 'r')}>`. One element for the whole page (Tip.svelte), shown after a moment of
 *  hovering or at once on keyboard focus; a touch never shows it. The text is never the only name of a thing. */
import type { Attachment } from 'svelte/attachments'
import { chordText } from './keys.svelte'

interface Shown {
    text: string
    keys: string | undefined
    anchor: Element
}

let shown = $state.raw<Shown | null>(null)
let timer: ReturnType<typeof setTimeout> | undefined

export const shownTip = (): Shown | null => shown

export function tip(text: string, chord?: string): Attachment {
    return (anchor) => {
        const keys = chord ? chordText(chord) : undefined
        const show = (wait: number) => {
            clearTimeout(timer)
            timer = setTimeout(() => (shown = { text, keys, anchor }), wait)
        }
        const hide = () => {
            clearTimeout(timer)
            if (shown?.anchor === anchor) shown = null
        }
        const over = (event: Event) => (event as PointerEvent).pointerType === 'mouse' && show(shown ? 0 : 450)
        const focus = () => anchor.matches(':focus-visible') && show(0)
        const listeners = {
            pointerenter: over,
            pointerleave: hide,
            pointerdown: hide,
            focus,
            blur: hide,
            keydown: hide,
        }
        for (const [name, listener] of Object.entries(listeners)) anchor.addEventListener(name, listener)
        return () => {
            hide()
            for (const [name, listener] of Object.entries(listeners)) anchor.removeEventListener(name, listener)
        }
    }
}
