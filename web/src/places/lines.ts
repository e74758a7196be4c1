/** Lists of conversations by keyboard: j and k, or the arrows, move from line to line; Enter opens, as it opens every link. */
import { addKeys, type Key } from '../ui/keys.svelte'
import type { Word } from '../words/words.svelte'

/** A line is a link with the class `line`; `more` are keys of this list alone. Returns how to take the keys away. */
export function lineKeys(title: Word, list: () => HTMLElement | undefined, more: Key[] = []): () => void {
    function move(step: 1 | -1): boolean {
        const lines = [...(list()?.querySelectorAll<HTMLElement>('a.line') ?? [])]
        // Also from a button beside its link.
        const at = lines.findIndex((line) => line.parentElement?.contains(document.activeElement))
        const to = lines[Math.max(0, Math.min(lines.length - 1, at + step))]
        to?.focus()
        return to !== undefined
    }
    return addKeys(title, [
        { keys: ['j', 'down'], word: 'keys.line.next', run: () => move(1) },
        { keys: ['k', 'up'], word: 'keys.line.previous', run: () => move(-1) },
        ...more,
    ])
}
