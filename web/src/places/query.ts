/** What somebody typed to search, as terms of a narrow, and back (pure).
 *
 *  `channel:design topic:"new logo" sender:ada is:starred -has:image some words`: operators that are known are terms, everything
 *  else is words to look for, together as one term. Names of channels and people become their numbers where they are known. */
import type { Id, NarrowTerm } from '../data/api-types'

export const OPERATORS = ['channel', 'topic', 'sender', 'dm', 'is', 'has'] as const
/** A map: somebody may type what every object has, such as `constructor:`. */
const ALIASES = new Map([
    ['stream', 'channel'],
    ['from', 'sender'],
    ['subject', 'topic'],
    ['pm-with', 'dm'],
])
export const IS = ['starred', 'mentioned', 'unread', 'dm', 'resolved', 'followed', 'alerted', 'muted']
export const HAS = ['link', 'image', 'attachment', 'reaction']
/** Understood, but not offered while one types. */
const CHANNELS = ['public', 'web-public', 'archived']

export interface Names {
    channelId(name: string): Id | undefined
    channelName(id: Id): string | undefined
    userId(name: string): Id | undefined
    userName(id: Id): string
}

export function termsOf(text: string, names: Names): NarrowTerm[] {
    const terms: NarrowTerm[] = []
    const words: string[] = []
    for (const part of partsOf(text)) {
        const term = part.quoted && !part.text.includes(':') ? null : termOf(part.text, names)
        if (term) terms.push(term)
        else words.push(part.quoted ? `"${part.text}"` : part.text)
    }
    if (words.length) terms.push({ operator: 'search', operand: words.join(' ') })
    return terms
}

export function queryOf(terms: readonly NarrowTerm[], names: Names): string {
    return terms
        .map((term) => {
            if (term.operator === 'search') return String(term.operand)
            const text = [term.operand]
                .flat()
                .map((one) => nameOf(term.operator, one, names))
                .join(',')
            return `${term.negated ? '-' : ''}${term.operator}:${/\s/.test(text) ? `"${text}"` : text}`
        })
        .join(' ')
}

interface Part {
    text: string
    quoted: boolean
}

/** Words divided by spaces; quotes hold several together, also after a colon. */
function partsOf(text: string): Part[] {
    const parts: Part[] = []
    for (const [, head = '', quoted, plain] of text.matchAll(/([^\s"]*)"([^"]*)"?|(\S+)/g)) {
        if (plain !== undefined) parts.push({ text: plain, quoted: false })
        else if (head + (quoted ?? '')) parts.push({ text: head + (quoted ?? ''), quoted: true })
    }
    return parts
}

function termOf(text: string, names: Names): NarrowTerm | null {
    const [, minus, word = '', value = ''] = /^(-?)([a-z-]+):(.+)$/.exec(text) ?? []
    const operator = ALIASES.get(word) ?? word
    const operand = operandOf(operator, value, names)
    if (operand === null) return null
    return minus ? { operator, operand, negated: true } : { operator, operand }
}

function operandOf(operator: string, value: string, names: Names): NarrowTerm['operand'] | null {
    switch (operator) {
        case 'channel':
            return names.channelId(value) ?? value
        case 'sender':
        case 'mentions':
        case 'dm-including':
            return names.userId(value) ?? value
        case 'channels':
            return CHANNELS.includes(value) ? value : null
        case 'dm': {
            const ids = value.split(',').map((name) => names.userId(name.trim()))
            return ids.every((id) => id !== undefined) ? (ids as Id[]) : null
        }
        case 'topic':
            return value
        case 'is':
            return IS.includes(value) ? value : null
        case 'has':
            return HAS.includes(value.replace(/s$/, '')) ? value.replace(/s$/, '') : null
        default:
            return null
    }
}

function nameOf(operator: string, one: string | number, names: Names): string {
    if (typeof one === 'string') return one
    return (operator === 'channel' ? names.channelName(one) : names.userName(one)) || String(one)
}
