/** Which of the recent conversations are shown: those that fit all filters that are on. */
import { SvelteSet } from 'svelte/reactivity'
import type { RecentTalk } from '../data/recent.svelte'

export type RecentFilter = 'unread' | 'mine' | 'directs' | 'channels'
/** No conversation is both. */
const INSTEAD = new Map<RecentFilter, RecentFilter>([
    ['directs', 'channels'],
    ['channels', 'directs'],
])

export class RecentFilters {
    readonly #on = new SvelteSet<RecentFilter>()

    get isEmpty(): boolean {
        return this.#on.size === 0
    }

    has(filter: RecentFilter): boolean {
        return this.#on.has(filter)
    }

    toggle(filter: RecentFilter): void {
        const other = INSTEAD.get(filter)
        if (this.#on.delete(filter)) return
        this.#on.add(filter)
        if (other) this.#on.delete(other)
    }

    clear(): void {
        this.#on.clear()
    }

    /** Whether a conversation is among them. */
    allows({ place, isMine }: Pick<RecentTalk, 'place' | 'isMine'>, isUnread: () => boolean): boolean {
        if (this.has('unread') && !isUnread()) return false
        if (this.has('mine') && !isMine) return false
        if (this.has('directs') && place.kind === 'topic') return false
        return !this.has('channels') || place.kind === 'topic'
    }
}
