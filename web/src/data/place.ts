/** Where somebody is: a place of the application, its address (the part after `#`), and what to ask the server for it.
 *
 *  Addresses have the protocol's own form, because links in messages are written so: `#narrow/channel/12-general/topic/lunch`.
 *  Every place has one address, and `placeOf(hashOf(place))` is the place again. */
import type { Id, NarrowTerm } from './api-types'

/** Places with messages. `near` is the message to show; it belongs to the address, not to the conversation. */
export type TalkPlace =
    | { kind: 'feed'; near?: Id }
    | { kind: 'channel'; channelId: Id; near?: Id }
    | { kind: 'topic'; channelId: Id; topic: string; near?: Id }
    | { kind: 'direct'; userIds: Id[]; near?: Id }
    | { kind: 'directs'; near?: Id }
    | { kind: 'mentioned'; near?: Id }
    | { kind: 'starred'; near?: Id }
    | { kind: 'search'; terms: NarrowTerm[]; near?: Id }

/** Places that are pages of their own; `rest` is for the page to read. */
export type PagePlace =
    | { kind: 'inbox' }
    | { kind: 'recent' }
    | { kind: 'drafts' }
    | { kind: 'scheduled' }
    | { kind: 'settings'; rest: string[] }
    | { kind: 'organization'; rest: string[] }
    | { kind: 'channels'; rest: string[] }
    | { kind: 'groups'; rest: string[] }
    | { kind: 'people'; rest: string[] }

export type Place = TalkPlace | PagePlace

const PAGES = ['inbox', 'recent', 'drafts', 'scheduled'] as const
const PAGES_WITH_REST = ['settings', 'organization', 'channels', 'groups', 'people'] as const
const TALKS = ['feed', 'channel', 'topic', 'direct', 'directs', 'mentioned', 'starred', 'search']

/** The first page, as somebody's settings name it. */
export function homeOf(view: string): Place {
    return { kind: view === 'recent_topics' ? 'recent' : view === 'all_messages' ? 'feed' : 'inbox' }
}

export function isTalk(place: Place): place is TalkPlace {
    return TALKS.includes(place.kind)
}

/** The conversation without the message to show: two places with the same key show the same talk. */
export function keyOf(place: Place): string {
    switch (place.kind) {
        case 'channel':
            return `channel:${place.channelId}`
        case 'topic':
            return topicKey(place.channelId, place.topic)
        case 'direct':
            return `direct:${place.userIds.join(',')}`
        case 'search':
            return `search:${JSON.stringify(place.terms)}`
        case 'settings':
        case 'organization':
        case 'channels':
        case 'groups':
        case 'people':
            return [place.kind, ...place.rest].join(':')
        default:
            return place.kind
    }
}

/** One step out: from a topic to its channel, from a channel's page to all of them, from everywhere else home; null at home. */
export function outOf(place: Place, home: Place): Place | null {
    if (place.kind === 'topic') return { kind: 'channel', channelId: place.channelId }
    if (place.kind === 'channels' && place.rest.length) return { kind: 'channels', rest: [] }
    return keyOf(place) === keyOf(home) ? null : home
}

/** Topics are the same whatever the case of their letters. */
export function topicKey(channelId: Id, topic: string): string {
    return `topic:${channelId}:${topic.toLowerCase()}`
}

export function isSameTopic(one: string, other: string): boolean {
    return one.toLowerCase() === other.toLowerCase()
}

/** A direct conversation with these others; my own id alone is the talk with myself. Sorted, each once, without me. */
export function directPlace(userIds: Iterable<Id>, me: Id): TalkPlace {
    const others = [...new Set(userIds)].filter((id) => id !== me).sort((a, b) => a - b)
    return { kind: 'direct', userIds: others.length ? others : [me] }
}

/** What to ask GET /messages for. */
export function narrowOf(place: TalkPlace): NarrowTerm[] {
    switch (place.kind) {
        case 'feed':
            return [{ operator: 'in', operand: 'home' }]
        case 'channel':
            return [{ operator: 'channel', operand: place.channelId }]
        case 'topic':
            return [
                { operator: 'channel', operand: place.channelId },
                { operator: 'topic', operand: place.topic },
            ]
        case 'direct':
            return [{ operator: 'dm', operand: place.userIds }]
        case 'directs':
            return [{ operator: 'is', operand: 'dm' }]
        case 'mentioned':
            return [{ operator: 'is', operand: 'mentioned' }]
        case 'starred':
            return [{ operator: 'is', operand: 'starred' }]
        case 'search':
            return place.terms
    }
}

/** The address. Names of channels are there for people to read; only the number counts. */
export function hashOf(place: Place, channelName?: (channelId: Id) => string | undefined): string {
    if (!isTalk(place)) return '#' + [place.kind, ...('rest' in place ? place.rest.map(encode) : [])].join('/')
    if (place.kind === 'feed') return place.near === undefined ? '#feed' : `#feed/near/${place.near}`
    const parts = [isSearchOnly(place) ? '#search' : '#narrow', ...termParts(place, channelName)]
    if (place.near !== undefined) parts.push('near', String(place.near))
    return parts.join('/')
}

/** A search whose terms alone would be the address of another place, such as `is:starred`, or that has none yet. */
function isSearchOnly(place: TalkPlace): boolean {
    return place.kind === 'search' && talkOf(place.terms, 0)?.kind !== 'search'
}

function termParts(place: TalkPlace, channelName?: (channelId: Id) => string | undefined): string[] {
    if (place.kind === 'direct') return ['dm', place.userIds.join(',')]
    return narrowOf(place).flatMap((term) => {
        const operator = term.negated ? `-${term.operator}` : term.operator
        if (term.operator === 'channel' && typeof term.operand === 'number') {
            return [operator, channelSlug(term.operand, channelName?.(term.operand))]
        }
        return [operator, Array.isArray(term.operand) ? term.operand.join(',') : encode(String(term.operand))]
    })
}

function channelSlug(id: Id, name: string | undefined): string {
    return name ? `${id}-${encode(name.replaceAll(' ', '-'))}` : String(id)
}

/** The place of an address; what is no address of ours is the home place (null). */
export function placeOf(hash: string, me: Id = 0): Place | null {
    const [head = '', ...rest] = hash.replace(/^#/, '').split('/').map(decode)
    if ((PAGES as readonly string[]).includes(head)) return { kind: head as (typeof PAGES)[number] }
    if ((PAGES_WITH_REST as readonly string[]).includes(head)) {
        return { kind: head as (typeof PAGES_WITH_REST)[number], rest: rest.filter((part) => part !== '') }
    }
    if (head === 'feed' || head === 'all_messages') return withNear({ kind: 'feed' }, rest)
    if (head === 'search') return searchPlace(rest)
    return head === 'narrow' ? narrowPlace(rest, me) : null
}

function withNear(place: TalkPlace, parts: string[]): TalkPlace {
    const near = Number(parts[parts.indexOf('near') + 1])
    return parts.includes('near') && Number.isSafeInteger(near) && near > 0 ? { ...place, near } : place
}

function narrowPlace(parts: string[], me: Id): Place | null {
    const read = readTerms(parts)
    const place = read && talkOf(read.terms, me)
    return place && read.near !== undefined ? { ...place, near: read.near } : place
}

function searchPlace(parts: string[]): Place | null {
    const read = readTerms(parts)
    return read && { kind: 'search', ...read }
}

function readTerms(parts: string[]): { terms: NarrowTerm[]; near?: Id } | null {
    const terms: NarrowTerm[] = []
    let near: Id | undefined
    for (let at = 0; at + 1 < parts.length; at += 2) {
        const operator = parts[at] ?? ''
        const operand = parts[at + 1] ?? ''
        if (operator === 'near' || operator === 'with') near = wholeNumber(operand) ?? near
        else {
            const term = termOf(operator, operand)
            if (term === null) return null
            terms.push(term)
        }
    }
    return near === undefined ? { terms } : { terms, near }
}

function termOf(text: string, operand: string): NarrowTerm | null {
    const negated = text.startsWith('-')
    const operator = ALIASES.get(text.replace(/^-/, '')) ?? text.replace(/^-/, '')
    const value = operandOf(operator, operand)
    if (value === null) return null
    return negated ? { operator, operand: value, negated } : { operator, operand: value }
}

/** A map: an address may name what every object has, such as `constructor`. */
const ALIASES = new Map([
    ['stream', 'channel'],
    ['streams', 'channels'],
    ['pm-with', 'dm'],
    ['subject', 'topic'],
])

function operandOf(operator: string, text: string): NarrowTerm['operand'] | null {
    if (operator === 'channel') return wholeNumber(text.split('-')[0] ?? '') ?? text
    if (operator === 'dm') {
        const ids = text
            .replace(/-[^,]*$/, '')
            .split(',')
            .map(wholeNumber)
        return ids.every((id) => id !== null) ? (ids as number[]) : null
    }
    if (operator === 'sender' || operator === 'dm-including' || operator === 'id' || operator === 'mentions') {
        return wholeNumber(text) ?? text
    }
    return text
}

/** The simplest place that these terms describe. */
export function talkOf(terms: NarrowTerm[], me: Id): TalkPlace | null {
    if (terms.length === 0) return { kind: 'feed' }
    const [first, second] = terms
    if (terms.some((term) => term.negated) || !first) return { kind: 'search', terms }
    if (first.operator === 'channel' && typeof first.operand === 'number') {
        if (terms.length === 1) return { kind: 'channel', channelId: first.operand }
        if (terms.length === 2 && second?.operator === 'topic') {
            return { kind: 'topic', channelId: first.operand, topic: String(second.operand) }
        }
    }
    if (terms.length > 1) return { kind: 'search', terms }
    if (first.operator === 'dm' && Array.isArray(first.operand)) return directPlace(first.operand, me)
    if (first.operator === 'is' && first.operand === 'dm') return { kind: 'directs' }
    if (first.operator === 'is' && first.operand === 'mentioned') return { kind: 'mentioned' }
    if (first.operator === 'is' && first.operand === 'starred') return { kind: 'starred' }
    if (first.operator === 'in' && first.operand === 'home') return { kind: 'feed' }
    return { kind: 'search', terms }
}

function wholeNumber(text: string): number | null {
    return /^[0-9]{1,15}$/.test(text) ? Number(text) : null
}

/** As links in messages do: percent-encoded, with dots for the percent signs, so that programs take it for one word. */
function encode(text: string): string {
    return encodeURIComponent(text)
        .replaceAll('.', '%2E')
        .replaceAll(/[!'()*]/g, (char) => '%' + char.charCodeAt(0).toString(16).toUpperCase())
        .replaceAll('%', '.')
}

function decode(text: string): string {
    try {
        return decodeURIComponent(text.replaceAll('.', '%'))
    } catch {
        try {
            return decodeURIComponent(text)
        } catch {
            return text
        }
    }
}
