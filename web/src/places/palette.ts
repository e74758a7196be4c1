/** What the palette offers for what was typed (pure): places, people, things to do, and to search for it. The likeliest first. */
import type { Id } from '../data/api-types'
import { fitsLoosely } from '../ui/match'

export interface Offer {
    key: string
    group: 'places' | 'people' | 'actions' | 'search'
    text: string
    /** Shown beside it: the channel of a topic, the address of a person. */
    hint?: string
    /** Other words by which it is found. */
    also?: string
    /** Where it is: part of what it is found by. */
    within?: string
    /** How often and lately somebody went there. */
    visits?: number
    /** Less is likelier, among those that fit as well and were visited as often. */
    weight?: number
    /** Whose picture is shown beside it. */
    userId?: Id
    colour?: string
    /** What the field holds afterwards: it stays open. */
    complete?: string
    run: () => void
}

const MOST: Record<Offer['group'], number> = { places: 8, people: 6, actions: 5, search: 6 }
const ORDER: Offer['group'][] = ['places', 'people', 'actions', 'search']

/** With nothing typed: what has the least weight in each group. `@` asks for people only, `#` for places, `>` for actions. */
export function offersFor(typed: string, offers: readonly Offer[]): Offer[] {
    const only = { '@': 'people', '#': 'places', '>': 'actions' }[typed.trim()[0] ?? '']
    const words = only ? typed.trim().slice(1).trim() : typed.trim()
    return ORDER.filter((group) => !only || group === only).flatMap((group) => {
        const some = offers.filter((offer) => offer.group === group)
        if (group === 'search') return words ? some : []
        const most = only ? 20 : MOST[group]
        return some
            .flatMap((offer) => {
                const score = scoreOf(offer, words)
                return score === null ? [] : [{ offer, score, visits: offer.visits ?? 0, weight: offer.weight ?? 0 }]
            })
            .sort(
                (a, b) =>
                    a.score - b.score ||
                    b.visits - a.visits ||
                    a.weight - b.weight ||
                    a.offer.text.localeCompare(b.offer.text),
            )
            .slice(0, most)
            .map((each) => each.offer)
    })
}

/** Less fits better; what is found by other words only comes last. */
function scoreOf({ text, within, also }: Offer, words: string): number | null {
    const own = fitsLoosely(text, words)
    if (own !== null || !words) return own
    const whole = within ? fitsLoosely(`${within} ${text}`, words) : null
    if (whole !== null) return whole + 1
    return also && fitsLoosely(also, words) !== null ? 9 : null
}
