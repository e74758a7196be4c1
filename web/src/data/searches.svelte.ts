/** Searches that somebody gave a name, in this browser: the server has no place for them. The last one saved is first. */
import type { Id, NarrowTerm } from './api-types'
import { browserKeep, readJson, type Keep } from './keep'

export interface SavedSearch {
    name: string
    terms: NarrowTerm[]
}
const MOST = 50

export class Searches {
    readonly #keep: Keep
    #name = ''
    #all: readonly SavedSearch[] = $state.raw([])

    constructor(keep: Keep = browserKeep) {
        this.#keep = keep
    }

    get all(): readonly SavedSearch[] {
        return this.#all
    }

    load(me: Id): void {
        this.#name = `tertulia.searches.${me}`
        const kept = readJson<SavedSearch[]>(this.#keep, this.#name)
        this.#all = Array.isArray(kept) ? kept : []
    }

    find(terms: readonly NarrowTerm[]): SavedSearch | undefined {
        const wanted = JSON.stringify(terms)
        return this.#all.find((each) => JSON.stringify(each.terms) === wanted)
    }

    /** Another search of this name, and the same search under another name, give way. */
    save(name: string, terms: readonly NarrowTerm[]): void {
        const same = this.find(terms)
        const others = this.#all.filter((each) => each !== same && each.name !== name)
        this.#put([{ name, terms: [...terms] }, ...others].slice(0, MOST))
    }

    remove(name: string): void {
        this.#put(this.#all.filter((each) => each.name !== name))
    }

    /** As it was before something was removed. */
    restore(all: readonly SavedSearch[]): void {
        this.#put(all)
    }

    #put(all: readonly SavedSearch[]): void {
        this.#all = all
        this.#keep.set(this.#name, JSON.stringify(all))
    }
}
