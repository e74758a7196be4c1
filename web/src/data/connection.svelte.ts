/** Whether we hear from the server, for one line on the screen; and what wakes us when that may have changed. */
import type { ApiError } from './api'

export class Connection {
    /** connecting: not yet. online: events come. offline: they do not, for longer than a moment. */
    state: 'connecting' | 'online' | 'offline' = $state('connecting')
    /** Why, when it is not the network: the server said so. */
    reason: string | null = $state(null)
    /** Whether the browser has a network: then it is the server that is away. */
    hasNetwork = $state(true)
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
        this.hasNetwork = navigator.onLine !== false
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

const TICK_MS = 5000
/** A clock that jumps by more has slept, and the connections with it. That of a hidden page ticks once a minute by itself. */
const SLEPT_MS = { visible: 4 * TICK_MS, hidden: 150_000 }

/** Calls `wake` when the page is looked at again; or, surely, when the network is gone or back, the browser froze the page or put
 *  it aside, or the machine slept. The answer ends that. */
export function watchWaking(wake: (isSure: boolean) => void): () => void {
    const sure = () => wake(true)
    const look = () => {
        if (document.visibilityState === 'visible') wake(false)
    }
    const shown = (event: PageTransitionEvent) => {
        if (event.persisted) wake(true)
    }
    let last = Date.now()
    const clock = setInterval(() => {
        if (Date.now() - last > SLEPT_MS[document.visibilityState]) wake(true)
        last = Date.now()
    }, TICK_MS)
    addEventListener('online', sure)
    addEventListener('offline', sure)
    addEventListener('pageshow', shown)
    document.addEventListener('resume', sure)
    document.addEventListener('visibilitychange', look)
    return () => {
        clearInterval(clock)
        removeEventListener('online', sure)
        removeEventListener('offline', sure)
        removeEventListener('pageshow', shown)
        document.removeEventListener('resume', sure)
        document.removeEventListener('visibilitychange', look)
    }
}
