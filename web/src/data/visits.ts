/** Which places this person goes to, how often and how lately, in this browser: what is likely to be wanted again. */
import type { Id } from './api-types'
import { browserKeep, readJson, type Keep } from './keep'
import { keyOf, type Place } from './place'

interface Visit {
    place: Place
    /** How often, where a visit counts half after each HALF_MS. */
    score: number
    at: number
}
const HALF_MS = 7 * 86_400_000
const MOST = 200
const PREFIX = 'tertulia.visits.'

export class Visits {
    readonly #keep: Keep
    #name = ''
    #all = new Map<string, Visit>()

    constructor(keep: Keep = browserKeep) {
        this.#keep = keep
    }

    load(me: Id): void {
        this.#name = PREFIX + me
        const kept = readJson<[string, Visit][]>(this.#keep, this.#name)
        this.#all = new Map(Array.isArray(kept) ? kept : [])
    }

    /** Whoever was here goes: the next one at this browser is not to read where they were. */
    static forget(keep: Keep = browserKeep): void {
        for (const name of keep.names(PREFIX)) keep.delete(name)
    }

    /** Somebody came to a place. */
    note(place: Place, now = Date.now()): void {
        const key = keyOf(place)
        const score = this.#score(key, now) + 1
        // The last one is the newest.
        this.#all.delete(key)
        this.#all.set(key, { place, score, at: now })
        for (const old of this.#all.keys()) {
            if (this.#all.size <= MOST) break
            this.#all.delete(old)
        }
        this.#keep.set(this.#name, JSON.stringify([...this.#all]))
    }

    /** 0 for where nobody was. */
    of(place: Place, now = Date.now()): number {
        return this.#score(keyOf(place), now)
    }

    /** Where somebody was, the last first. */
    places(): Place[] {
        return [...this.#all.values()].map((visit) => visit.place).toReversed()
    }

    #score(key: string, now: number): number {
        const visit = this.#all.get(key)
        return visit ? visit.score * 0.5 ** ((now - visit.at) / HALF_MS) : 0
    }
}
