/** Whether we hear from the server, for one line on the screen; and what wakes us when that may have changed. */
import type { ApiError } from './api'

export class Live {
    /** connecting: not yet. online: events come. offline: they do not, for longer than a moment. */
    state: 'connecting' | 'online' | 'offline' = $state('connecting')
    /** Why, when it is not the network: the server said so. */
    reason: string | null = $state(null)
    /** The server was updated: a reload brings the new client. */
    hasNewVersion = $state(false)
    #version = ''
    #page: string | null = null

    online(): void {
        this.state = 'online'
        this.reason = null
    }

    offline(error: ApiError): void {
        this.state = 'offline'
        this.reason = error.kind === 'busy' ? error.msg : null
    }

    /** A registration says which version of the server answers. If it is another, the page may be as well. */
    async registered(version: string): Promise<void> {
        const isAnother = this.#version !== version
        this.#version = version
        if (!isAnother && this.#page !== null) return
        const page = await pageTag()
        if (page === null) return
        if (this.#page !== null && this.#page !== page) this.hasNewVersion = true
        this.#page = page
    }
}

/** What the browser would load now. */
async function pageTag(): Promise<string | null> {
    try {
        const response = await fetch('/', { method: 'HEAD', cache: 'no-store' })
        return response.headers.get('ETag')
    } catch {
        return null
    }
}

/** Calls `wake` when the network is back, the page is looked at again, or the machine slept. The answer ends that. */
export function watchWaking(wake: (isSure: boolean) => void): () => void {
    const sure = () => wake(true)
    const look = () => {
        if (document.visibilityState === 'visible') wake(false)
    }
    const everyMs = 5000
    let last = Date.now()
    const clock = setInterval(() => {
        // A clock that jumps has slept, and the connections with it.
        if (Date.now() - last > 4 * everyMs) wake(true)
        last = Date.now()
    }, everyMs)
    addEventListener('online', sure)
    document.addEventListener('visibilitychange', look)
    return () => {
        clearInterval(clock)
        removeEventListener('online', sure)
        document.removeEventListener('visibilitychange', look)
    }
}
