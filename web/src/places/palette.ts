/** What the palette offers for what was typed (pure): places, people, things to do, and to search for it. The likeliest first. */
import { best } from '../ui/match'

export interface Offer {
    key: string
    group: 'places' | 'people' | 'actions' | 'search'
    text: string
    /** Shown beside it: the channel of a topic, the address of a person. */
    hint?: string
    /** Other words by which it is found. */
    also?: string
    /** Less is likelier, among those that fit as well. */
    weight?: number
    run: () => void
}

const MOST: Record<Offer['group'], number> = { places: 8, people: 6, actions: 5, search: 2 }
const ORDER: Offer['group'][] = ['places', 'people', 'actions', 'search']

/** With nothing typed: what has the least weight in each group. `@` asks for people only, `#` for places, `>` for actions. */
export function offersFor(typed: string, offers: readonly Offer[]): Offer[] {
    const only = { '@': 'people', '#': 'places', '>': 'actions' }[typed.trim()[0] ?? '']
    const words = only ? typed.trim().slice(1).trim() : typed.trim()
    return ORDER.filter((group) => !only || group === only).flatMap((group) => {
        const some = offers.filter((offer) => offer.group === group)
        if (group === 'search') return words ? some : []
        const most = only ? 20 : MOST[group]
        return best(
            some,
            words,
            (offer) => offer.text,
            most,
            (offer) => offer.weight ?? 0,
        )
            .concat(
                words
                    ? best(some, words, (offer) => offer.also ?? '', 3).filter((offer) => offer.also !== undefined)
                    : [],
            )
            .filter((offer, index, all) => all.indexOf(offer) === index)
            .slice(0, most)
    })
}
