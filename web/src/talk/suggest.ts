/** What the text before the caret asks to be completed (pure): people and groups after `@`, channels and topics after `#`,
 *  emoji after `:`, commands after `/` at the beginning. */

export type Asked =
    | { kind: 'mention'; words: string; silent: boolean; from: number }
    | { kind: 'channel'; words: string; from: number }
    | { kind: 'topic'; channel: string; words: string; from: number }
    | { kind: 'emoji'; words: string; from: number }
    | { kind: 'command'; words: string; from: number }

const LONGEST = 60
/** A mention or a link begins after these only, as in the server's dialect. */
const BEFORE = /[\s'"({[/<]/

export function askedAt(text: string, caret: number): Asked | null {
    const line = text.slice(Math.max(0, text.lastIndexOf('\n', caret - 1) + 1, caret - LONGEST), caret)
    const start = caret - line.length
    const command = /^\/(\w*)$/.exec(line)
    if (command && text.slice(0, start).trim() === '') return { kind: 'command', words: command[1] ?? '', from: start }
    if (insideCode(text.slice(0, caret))) return null
    return marked(line, start) ?? emoji(line, start)
}

function marked(line: string, start: number): Asked | null {
    const at = Math.max(lastSign(line, '@'), lastSign(line, '#'))
    if (at === -1) return null
    const from = start + at
    const rest = line.slice(at + 1)
    if (line[at] === '@') {
        const match = /^(_?)\*{0,2}([^*@#]*)$/.exec(rest)
        return match && (match[2] ?? '').split(' ').length <= 4
            ? { kind: 'mention', silent: match[1] === '_', words: match[2] ?? '', from }
            : null
    }
    const topic = /^\*\*([^*>]+)>([^*]*)$/.exec(rest)
    if (topic) return { kind: 'topic', channel: topic[1] ?? '', words: topic[2] ?? '', from }
    const channel = /^\*{0,2}([^*>#@]*)$/.exec(rest)
    return channel && !rest.startsWith(' ') && (channel[1] ?? '').split(' ').length <= 4
        ? { kind: 'channel', words: channel[1] ?? '', from }
        : null
}

function lastSign(line: string, sign: string): number {
    const at = line.lastIndexOf(sign)
    return at !== -1 && (at === 0 || BEFORE.test(line[at - 1] ?? '')) ? at : -1
}

function emoji(line: string, start: number): Asked | null {
    const match = /(?:^|[\s(])(:([a-z0-9_+-]{2,}))$/i.exec(line)
    return match ? { kind: 'emoji', words: match[2] ?? '', from: start + line.length - (match[1] ?? '').length } : null
}

/** Between backticks, or in a fence that is still open. */
function insideCode(before: string): boolean {
    const fences = before.match(/^(`{3,}|~{3,})/gm)?.length ?? 0
    if (fences % 2 === 1) return true
    const line = before.slice(before.lastIndexOf('\n') + 1)
    return ((line.match(/`/g)?.length ?? 0) - (line.match(/^`{3,}/)?.[0].length ?? 0)) % 2 === 1
}
