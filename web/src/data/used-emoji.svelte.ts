/** What somebody reacts with, in this browser: the server counts it nowhere. Their last reactions are kept, and those they
 *  used most often among them come first. It listens to events, so that reactions from other devices count as well. */
import type { Emoji } from './acts'
import type { ApiEvent, Id } from './api-types'
import { browserKeep, readJson, type Keep } from './keep'

/** Enough to know a habit, few enough to follow a new one. */
const REMEMBERED = 60
/** For who has not reacted much yet. */
const USUAL: readonly Emoji[] = [
    { emoji_name: '+1', emoji_code: '1f44d', reaction_type: 'unicode_emoji' },
    { emoji_name: 'heart', emoji_code: '2764', reaction_type: 'unicode_emoji' },
    { emoji_name: 'joy', emoji_code: '1f602', reaction_type: 'unicode_emoji' },
    { emoji_name: 'tada', emoji_code: '1f389', reaction_type: 'unicode_emoji' },
    { emoji_name: 'eyes', emoji_code: '1f440', reaction_type: 'unicode_emoji' },
]

export class UsedEmoji {
    readonly #keep: Keep
    #me: Id = 0
    /** The newest first. */
    #last: readonly Emoji[] = $state.raw([])

    constructor(keep: Keep = browserKeep) {
        this.#keep = keep
    }

    load(me: Id): void {
        this.#me = me
        const kept = readJson<Emoji[]>(this.#keep, this.#name)
        this.#last = Array.isArray(kept) ? kept : []
    }

    /** Whoever wrote last in a tab wins: it is a habit, not a record. */
    apply(event: ApiEvent): void {
        if (event.type !== 'reaction' || event.op !== 'add' || event.user_id !== this.#me) return
        const { emoji_name, emoji_code, reaction_type } = event
        this.#last = [{ emoji_name, emoji_code, reaction_type }, ...this.#last].slice(0, REMEMBERED)
        this.#keep.set(this.#name, JSON.stringify(this.#last))
    }

    /** The most used first, then the usual ones; of those used equally often, the last one used. */
    readonly most: readonly Emoji[] = $derived.by(() => {
        const counted = new Map<string, { emoji: Emoji; times: number }>()
        for (const emoji of [...this.#last, ...USUAL]) {
            const known = counted.get(keyOf(emoji))
            if (known) known.times += 1
            else counted.set(keyOf(emoji), { emoji, times: 1 })
        }
        return [...counted.values()].sort((a, b) => b.times - a.times).map(({ emoji }) => emoji)
    })

    get #name(): string {
        return `tertulia.emoji.${this.#me}`
    }
}

const keyOf = (emoji: Emoji) => `${emoji.reaction_type}:${emoji.emoji_code}`
