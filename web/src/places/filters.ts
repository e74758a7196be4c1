/** The filters of a search that one can see: the same terms as the words one types, put in and taken out one by one (pure). */
import type { NarrowTerm } from '../data/api-types'
import { hasWord, t } from '../words/words.svelte'
import type { Names } from './query'

/** Of these a search has one; of the others (`is`, `has`) it may have several. */
const SINGLE: ReadonlySet<string> = new Set(['channel', 'channels', 'topic', 'sender', 'dm', 'mentions'])
/** Where a message is: one of them makes no sense beside another. A topic is part of its channel. */
const WHERE: ReadonlySet<string> = new Set(['channel', 'channels', 'topic', 'dm', 'dm-including'])

export const IS_OFFERED = ['unread', 'starred', 'mentioned', 'dm', 'followed', 'resolved', 'alerted'] as const
export const HAS_OFFERED = ['link', 'image', 'attachment', 'reaction'] as const

export function isOn(terms: readonly NarrowTerm[], wanted: NarrowTerm): boolean {
    return terms.some((term) => isSame(term, wanted) && !term.negated)
}

/** With this filter, in the place of what it excludes; what one types stays last. */
export function withFilter(terms: readonly NarrowTerm[], added: NarrowTerm): NarrowTerm[] {
    const kept = terms.filter((term) => !isSame(term, added) && !givesWay(term, added))
    const words = kept.filter((term) => term.operator === 'search')
    return [...kept.filter((term) => term.operator !== 'search'), added, ...words]
}

function givesWay(term: NarrowTerm, added: NarrowTerm): boolean {
    if (added.operator === 'topic') return term.operator === 'topic'
    if (WHERE.has(added.operator)) return WHERE.has(term.operator)
    return SINGLE.has(added.operator) && term.operator === added.operator
}

/** Without this filter; without its channel a topic has no place either. */
export function withoutFilter(terms: readonly NarrowTerm[], removed: NarrowTerm): NarrowTerm[] {
    return terms.filter(
        (term) => term !== removed && !isSame(term, removed) && !(removed.operator === 'channel' && isTopic(term)),
    )
}

export function toggled(terms: readonly NarrowTerm[], term: NarrowTerm): NarrowTerm[] {
    return isOn(terms, term) ? withoutFilter(terms, term) : withFilter(terms, term)
}

const isTopic = (term: NarrowTerm) => term.operator === 'topic'

function isSame(one: NarrowTerm, other: NarrowTerm): boolean {
    return one.operator === other.operator && String(one.operand) === String(other.operand)
}

/** A filter in words: `From Kofi`, `Not: has a link`. */
export function filterText(term: NarrowTerm, names: Names): string {
    const text = plainFilterText(term, names)
    return term.negated ? t('search.not', { what: text }) : text
}

function plainFilterText({ operator, operand }: NarrowTerm, names: Names): string {
    const person = (id: string | number) => (typeof id === 'number' && names.userName(id)) || String(id)
    switch (operator) {
        case 'sender':
            return t('search.from', { name: person(operand as string | number) })
        case 'channel':
            return t('search.in', {
                name: (typeof operand === 'number' && names.channelName(operand)) || String(operand),
            })
        case 'channels':
            return t('search.public')
        case 'topic':
            return t('search.topic', { name: String(operand) })
        case 'dm':
        case 'dm-including':
            return t('search.with', { name: [operand].flat().map(person).join(', ') })
        case 'mentions':
            return t('search.mentions', { name: person(operand as string | number) })
    }
    const word = `search.${operator}.${String(operand)}`
    return hasWord(word) ? t(word) : `${operator}:${String(operand)}`
}
