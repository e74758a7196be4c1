/** The last word of a search while it is typed: which operator it may become, and which value of it (pure). */
import { best } from '../ui/match'
import { HAS, IS, OPERATORS } from './query'

export interface Known {
    channels: readonly string[]
    people: readonly string[]
}
const VALUES = new Map<string, readonly string[]>([
    ['is', IS],
    ['has', HAS],
])
const MOST = 5
/** Everything before, the operator, and as much of its value as is typed, in quotes or without. */
const VALUE = /^((?:.*\s)?-?)([a-z]+):(?:"([^"]*)|([^\s"]*))$/s
const WORD = /^((?:.*\s)?-?)([a-z]{2,})$/s

/** What the whole text may become. An operator is offered from two letters on, its values at once. */
export function completions(typed: string, known: Known): string[] {
    const [, before = '', operator = '', quoted, plain = ''] = VALUE.exec(typed) ?? []
    if (!operator) {
        const [, head = '', word = ' '] = WORD.exec(typed) ?? []
        return OPERATORS.filter((each) => each.startsWith(word)).map((each) => `${head}${each}:`)
    }
    const offered = [...new Set(valuesOf(operator, known))] // people may have the same name
    const fitting = best(
        offered,
        quoted ?? plain,
        (each) => each,
        MOST,
        (each) => offered.indexOf(each),
    )
    return fitting.map((each) => `${before}${operator}:${/\s/.test(each) ? `"${each}"` : each} `)
}

function valuesOf(operator: string, known: Known): readonly string[] {
    if (operator === 'channel') return known.channels
    if (operator === 'sender' || operator === 'dm') return known.people
    return VALUES.get(operator) ?? []
}
