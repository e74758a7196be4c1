/** What another program shared with the installed client: it waits with the service worker (sw-shell.js) until a page asks for it,
 *  and then for the compose box, which asks to whom it goes. */

export interface Shared {
    text: string
    files: File[]
}

const CACHE = 'tertulia-shared'
/** Where the service worker leads whoever shares. */
export const SHARED = '#shared'
let waiting = $state.raw<Shared | null>(null)

/** Ask the service worker for it; whether there was something. It gives it once. */
export async function receiveShared(store: CacheStorage | undefined = globalThis.caches): Promise<boolean> {
    const cache = await store?.open(CACHE).catch(() => undefined)
    const text = await cache?.match('/shared/text')
    if (!cache || !text) return false
    const parts = (await text.json()) as string[]
    const kept = (await cache.keys()).filter((each) => new URL(each.url).pathname.startsWith('/shared/file/'))
    const files = await Promise.all(kept.map(async (each) => fileOf(await cache.match(each))))
    await store?.delete(CACHE)
    waiting = { text: [...new Set(parts)].join('\n'), files: files.filter((file) => file !== null) }
    return true
}

async function fileOf(response: Response | undefined): Promise<File | null> {
    if (!response) return null
    const name = decodeURIComponent(response.headers.get('X-Name') ?? 'file')
    return new File([await response.blob()], name, { type: response.headers.get('Content-Type') ?? '' })
}

/** Whether something waits: reactive. */
export const isSharedWaiting = (): boolean => waiting !== null

export function takeShared(): Shared | null {
    const taken = waiting
    waiting = null
    return taken
}

/** Somebody wants to write, at a place that has no compose box, or to somebody else than it is for. */
export function beginToWrite(text = ''): void {
    waiting = { text, files: [] }
}
