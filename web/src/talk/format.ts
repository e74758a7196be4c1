/** Marking a selection in the text (pure): what the formatting buttons and their shortcuts do. */

export interface Selected {
    text: string
    start: number
    end: number
}

/** What to put where, and what is selected afterwards. */
export interface Edit {
    from: number
    to: number
    insert: string
    select: [number, number]
}

/** Put marks around the selection, or take them off if they are there. */
export function wrap({ text, start, end }: Selected, open: string, close = open): Edit {
    const inside = text.slice(start, end)
    if (
        text.slice(start - open.length, start) === open &&
        text.slice(end, end + close.length) === close &&
        isWhole(text, start, end, open)
    ) {
        return {
            from: start - open.length,
            to: end + close.length,
            insert: inside,
            select: [start - open.length, end - open.length],
        }
    }
    const lead = inside.length - inside.trimStart().length
    const trail = inside.trim() ? inside.length - inside.trimEnd().length : 0
    const core = inside.slice(lead, inside.length - trail)
    const insert = inside.slice(0, lead) + open + core + close + inside.slice(inside.length - trail)
    const at = start + lead + open.length
    return { from: start, to: end, insert, select: [at, at + core.length] }
}

/** One star is not half of two. */
function isWhole(text: string, start: number, end: number, open: string): boolean {
    const sign = open[0]
    if (open !== '*') return true
    return text[start - 2] !== sign || text[end + 1] !== sign
}

/** Begin every selected line with this, or take it off if all have it. */
export function prefixLines({ text, start, end }: Selected, prefix: string): Edit {
    const from = text.lastIndexOf('\n', start - 1) + 1
    const next = text.indexOf('\n', end)
    const to = next === -1 ? text.length : next
    const lines = text.slice(from, to).split('\n')
    const all = lines.every((line) => line.startsWith(prefix))
    const insert = lines.map((line) => (all ? line.slice(prefix.length) : prefix + line)).join('\n')
    return { from, to, insert, select: [from, from + insert.length] }
}

/** Longer than any in the text: what somebody wrote does not end a block around it, and pass for the words of who quotes it. */
export function fenceAround(text: string): string {
    const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length))
    return '`'.repeat(longest + 1)
}

/** A block with fences on lines of their own; `name` is the language or `spoiler`, `quote`, `math`. */
export function fence({ text, start, end }: Selected, name = ''): Edit {
    const inside = text.slice(start, end)
    const before = start > 0 && text[start - 1] !== '\n' ? '\n' : ''
    const after = text[end] !== undefined && text[end] !== '\n' ? '\n' : ''
    const mark = fenceAround(inside)
    const head = `${before}${mark}${name}\n`
    const at = start + head.length
    return { from: start, to: end, insert: `${head}${inside}\n${mark}${after}`, select: [at, at + inside.length] }
}

/** Code: within its line, or a block for several lines. */
export function code(selected: Selected): Edit {
    const isBlock = selected.text.slice(selected.start, selected.end).includes('\n')
    return isBlock ? fence(selected) : wrap(selected, '`')
}

/** `[selection](url)` with the address selected; an address that is selected becomes the target. */
export function link({ text, start, end }: Selected): Edit {
    const inside = text.slice(start, end)
    if (/^https?:\/\/\S+$/.test(inside)) {
        return { from: start, to: end, insert: `[](${inside})`, select: [start + 1, start + 1] }
    }
    const at = start + inside.length + 3
    return { from: start, to: end, insert: `[${inside}](url)`, select: [at, at + 3] }
}

/** What Enter adds in a list: the next mark, or the end of the list after an empty item. Null elsewhere. */
export function nextLine({ text, start, end }: Selected): Edit | null {
    if (start !== end) return null
    const from = text.lastIndexOf('\n', start - 1) + 1
    const match = /^(\s*)([-*+]|(\d+)\.) (.*)$/.exec(text.slice(from, start))
    if (!match) return null
    if (!match[4]) return { from, to: start, insert: '', select: [from, from] }
    const mark = match[3] ? `${Number(match[3]) + 1}.` : match[2]
    const insert = `\n${match[1]}${mark} `
    return { from: start, to: start, insert, select: [start + insert.length, start + insert.length] }
}
