/** What somebody read last, kept in this browser for when there is no network: the organization as it was, and the newest messages
 *  of a few conversations. One person's at a time. It goes when they sign out, or somebody else signs in, and is never more than
 *  `MOST_TALKS` conversations of `MOST_MESSAGES`. */
import type { ApiMessage, Id, InitialState } from './api-types'

const CACHE = 'tertulia-last-read'
/** Not of this page: what another program shared and nobody took yet. It goes with everything else. */
const SHARED = 'tertulia-shared'
const MOST_TALKS = 12
const MOST_MESSAGES = 100
/** Characters of one thing that is kept. An organization whose people alone take more is not shown without a network. */
const MOST_SIZE = 4_000_000
const STATE = '/last-read/state'
const TALKS = '/last-read/talks/'

type Store = Pick<CacheStorage, 'open' | 'delete'>

export class LastRead {
    readonly #store: Store | undefined

    /** Only pages that came over a secure connection have such a store. */
    constructor(store: Store | undefined = globalThis.caches) {
        this.#store = store
    }

    async keepState(state: InitialState): Promise<void> {
        // One that is forgotten meanwhile takes what is put into it along.
        let cache = await this.#open()
        const before = await get<InitialState>(cache, STATE)
        if (before && before.user_id !== state.user_id) {
            await this.forget()
            cache = await this.#open()
        }
        await put(cache, STATE, state)
    }

    async state(): Promise<InitialState | null> {
        return get<InitialState>(await this.#open(), STATE)
    }

    /** The newest of a conversation's messages that are loaded. */
    async keepTalk(owner: Id, key: string, messages: readonly ApiMessage[]): Promise<void> {
        // One that is forgotten meanwhile takes what is put into it along.
        const cache = await this.#open()
        if (!cache || (await get<InitialState>(cache, STATE))?.user_id !== owner) return
        // Put anew it is the last of all: the first ones go.
        await cache.delete(addressOf(key))
        await put(cache, addressOf(key), messages.slice(-MOST_MESSAGES))
        const kept = (await cache.keys()).filter((each) => new URL(each.url).pathname.startsWith(TALKS))
        for (const old of kept.slice(0, Math.max(0, kept.length - MOST_TALKS))) await cache.delete(old)
    }

    async talk(key: string): Promise<ApiMessage[]> {
        return (await get<ApiMessage[]>(await this.#open(), addressOf(key))) ?? []
    }

    /** Everything, at once. */
    async forget(): Promise<void> {
        for (const name of [CACHE, SHARED]) await this.#store?.delete(name).catch(() => false)
    }

    async #open(): Promise<Cache | undefined> {
        return this.#store?.open(CACHE).catch(() => undefined)
    }
}

async function put(cache: Cache | undefined, path: string, value: object): Promise<void> {
    const text = JSON.stringify(value)
    if (text.length > MOST_SIZE) await cache?.delete(path)
    else await cache?.put(path, new Response(text)).catch(() => {}) // the disk is full: then it is not kept
}

async function get<T>(cache: Cache | undefined, path: string): Promise<T | null> {
    const found = await cache?.match(path)
    return found ? ((await found.json()) as T) : null
}

const addressOf = (key: string) => TALKS + encodeURIComponent(key)
