/** What another program shared with the installed client: it waits with the service worker (sw-shell.js) until a page asks for it,
 *  and then for the compose box, which asks to whom it goes. Any website can send something there in the name of whoever looks at
 *  it, and nobody can tell: so nothing is uploaded or written before the person says so. */
import { t } from '../words/words.svelte'
import { ask } from '../ui/asking.svelte'

export interface Shared {
    text: string
    files: File[]
}

const CACHE = 'tertulia-shared'
/** Where the service worker leads whoever shares. */
export const SHARED = '#shared'
let waiting = $state.raw<Shared | null>(null)

/** How much of a shared text the question shows. */
const SHOWN = 200

/** Ask the service worker for it; whether there was something that is wanted. It gives it once. */
export async function receiveShared(store: CacheStorage | undefined = globalThis.caches): Promise<boolean> {
    const cache = await store?.open(CACHE).catch(() => undefined)
    const text = await cache?.match('/shared/text')
    if (!cache || !text) return false
    const parts = (await text.json()) as string[]
    const kept = (await cache.keys()).filter((each) => new URL(each.url).pathname.startsWith('/shared/file/'))
    const files = await Promise.all(kept.map(async (each) => fileOf(await cache.match(each))))
    await store?.delete(CACHE)
    const shared = { text: [...new Set(parts)].join('\n'), files: files.filter((file) => file !== null) }
    if (!(await isWanted(shared))) return false
    waiting = shared
    return true
}

function isWanted({ text, files }: Shared): Promise<boolean> {
    // Isolated, and without letters that turn the direction: it must not rewrite what is said around it.
    const plain = (part: string) => part.replace(/[\u202a-\u202e\u2066-\u2069]/g, '').slice(0, SHOWN)
    const parts = [...files.map((file) => plain(file.name)), plain(text)].filter(Boolean)
    const what = `\u2068${parts.join(' · ')}\u2069`
    return ask({ title: t('shared.title'), text: t('shared.text', { what }), confirm: t('shared.confirm') })
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
