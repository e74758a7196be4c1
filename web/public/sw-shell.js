/* The part of the service worker that answers requests: the page and its files without a network, and what another program
 * shares. It never keeps what the API says: what was read last is kept by the page, for one person (last-read.ts). */

const SHELL = 'tertulia-shell'
const SHARED = 'tertulia-shared'
/** Files of more builds than one are let go of: no build has so many. */
const MOST_FILES = 300
const MOST_SHARED = { files: 10, bytes: 100_000_000 }

self.addEventListener('fetch', (event) => {
    const { request } = event
    const { origin, pathname } = new URL(request.url)
    if (origin !== self.location.origin) return
    if (request.method === 'POST' && pathname === '/share') event.respondWith(receive(request))
    else if (request.method !== 'GET') return
    else if (request.mode === 'navigate' && pathname === '/') event.respondWith(page(event))
    else if (pathname.startsWith('/assets/')) event.respondWith(file(event))
})

self.addEventListener('message', (event) => {
    if (event.data?.type === 'keep') event.waitUntil(keep(event.data.paths))
})

/** The newest page there is; without a network the one that was here last. */
async function page(event) {
    try {
        const found = await fetch(event.request)
        if (found.ok) event.waitUntil(put('/', found.clone()))
        return found
    } catch (problem) {
        const known = await self.caches.match('/', { cacheName: SHELL })
        if (known) return known
        throw problem
    }
}

/** A file with a digest in its name never changes. */
async function file(event) {
    const path = new URL(event.request.url).pathname
    const known = await self.caches.match(path, { cacheName: SHELL })
    if (known) return known
    const found = await fetch(event.request)
    if (found.ok) event.waitUntil(put(path, found.clone()))
    return found
}

async function put(path, response) {
    const shell = await self.caches.open(SHELL)
    const before = path === '/' ? await shell.match('/') : undefined
    // Another build: its files have other names.
    if (before && before.headers.get('ETag') !== response.headers.get('ETag')) await self.caches.delete(SHELL)
    await (await self.caches.open(SHELL)).put(path, response)
}

/** A page tells what it was made of: it may have been loaded before we were here. */
async function keep(paths) {
    const wanted = paths.filter((path) => path.startsWith('/assets/')).slice(0, MOST_FILES)
    const known = await knownPaths()
    if (known.size > MOST_FILES) await self.caches.delete(SHELL)
    // The page first: if it is another, what was kept of the old one goes.
    for (const path of ['/', ...wanted]) if (!(await knownPaths()).has(path)) await fetchInto(path).catch(() => {})
}

async function knownPaths() {
    const shell = await self.caches.open(SHELL)
    return new Set((await shell.keys()).map((each) => new URL(each.url).pathname))
}

async function fetchInto(path) {
    const found = await fetch(path)
    if (found.ok) await put(path, found)
}

/** Text and files of another program wait until the page has asked to whom they go. */
async function receive(request) {
    const given = await request.formData()
    await self.caches.delete(SHARED)
    const shared = await self.caches.open(SHARED)
    const text = ['title', 'text', 'url'].map((name) => given.get(name)).filter((part) => typeof part === 'string')
    await shared.put('/shared/text', new Response(JSON.stringify(text.filter(Boolean))))
    let size = 0
    const files = given.getAll('files').slice(0, MOST_SHARED.files)
    for (const [at, each] of files.entries()) {
        size += each.size
        if (size > MOST_SHARED.bytes) break
        const headers = {
            'Content-Type': each.type || 'application/octet-stream',
            'X-Name': encodeURIComponent(each.name),
        }
        await shared.put(`/shared/file/${at}`, new Response(each, { headers }))
    }
    return Response.redirect('/#shared', 303)
}
