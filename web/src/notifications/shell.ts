/** The page without a network: the service worker keeps the files that this one is made of (sw-shell.js). */
import { SCRIPT } from './push'

export async function keepShell(): Promise<void> {
    try {
        await navigator.serviceWorker.register(SCRIPT)
        const { active } = await navigator.serviceWorker.ready
        const loaded = performance.getEntriesByType('resource').map((each) => new URL(each.name))
        const paths = loaded.filter((url) => url.origin === location.origin).map((url) => url.pathname)
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
        active?.postMessage({ type: 'keep', paths })
    } catch {
        // A browser without service workers, or a page that is not secure: it needs a network.
    }
}
