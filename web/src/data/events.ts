/** The loop that waits for events: one long poll after another, for ever.
 *
 *  Every event is handed on once and in order: those that were handed on are acknowledged by the next poll, and one that comes
 *  again is passed over. A queue that is gone is replaced: `onQueueLost` registers anew and gives the new queue; so it is after events
 *  that nobody could make sense of, because what is known may be wrong by then. While nobody answers,
 *  tries are further and further apart (backoff.ts); `wake` makes the next one at once (the network is back, the lid was opened). */
import type { Answer, Api, ApiError } from './api'
import type { ApiEvent } from './api-types'
import { waitBefore } from './backoff'

export interface Queue {
    id: string
    lastEventId: number
}

export interface LoopHandlers {
    onEvents(events: ApiEvent[]): void
    /** Register again. */
    onQueueLost(): Promise<Answer<Queue>>
    onOnline(): void
    onOffline(error: ApiError): void
    onSignedOut(): void
}

/** Longer than the server takes for a poll (up to 20 s to bring the queue to another process, 55 s to hold it): nothing at all
 *  by then means the connection is dead. */
const POLL_TIMEOUT_MS = 90_000
/** The server allows 200 requests a minute: in a storm of events polls are this far apart, after the first few. */
const STORM_GAP_MS = 600
const QUIET_POLLS = 20

export class EventLoop {
    readonly #api: Api
    readonly #handlers: LoopHandlers
    #queue: Queue | null = null
    #stopped = true
    #failures = 0
    #wakeUp: (() => void) | null = null
    #polling: AbortController | null = null
    #budget = QUIET_POLLS
    #lastPoll = 0

    constructor(api: Api, handlers: LoopHandlers) {
        this.#api = api
        this.#handlers = handlers
    }

    get queueId(): string | null {
        return this.#queue?.id ?? null
    }

    /** Without a queue one is asked for first. */
    start(queue: Queue | null): void {
        this.#queue = queue
        if (!this.#stopped) return
        this.#stopped = false
        void this.#run()
    }

    stop(): void {
        this.#stopped = true
        this.#polling?.abort()
        this.wake()
    }

    /** Try now: whatever we were waiting for may have happened. Also ends a poll that may hang on a dead connection. */
    wake(restart = false): void {
        this.#wakeUp?.()
        if (restart) this.#polling?.abort()
    }

    async #run(): Promise<void> {
        while (!this.#stopped) {
            if (this.#queue === null) {
                await this.#replaceQueue()
                continue
            }
            await this.#spare()
            await this.#poll(this.#queue)
        }
    }

    async #replaceQueue(): Promise<void> {
        try {
            const answer = await this.#handlers.onQueueLost()
            if (this.#stopped) return
            if (answer.ok) this.#queue = answer.value
            else await this.#fail(answer.error)
        } catch (problem) {
            await this.#stumble(problem)
        }
    }

    async #poll(queue: Queue): Promise<void> {
        this.#polling = new AbortController()
        const timer = setTimeout(() => this.#polling?.abort(), POLL_TIMEOUT_MS)
        const answer = await this.#api.get<{ events: ApiEvent[] }>(
            'events',
            { queue_id: queue.id, last_event_id: queue.lastEventId, dont_block: this.#failures > 0 },
            { signal: this.#polling.signal },
        )
        clearTimeout(timer)
        if (this.#stopped || this.#queue !== queue) return
        if (!answer.ok) return this.#fail(answer.error)
        try {
            this.#take(queue, answer.value.events)
        } catch (problem) {
            await this.#stumble(problem)
        }
    }

    /** A mistake of ours: what is known may be wrong now, so it is asked for anew, a little later. */
    async #stumble(problem: unknown): Promise<void> {
        // oxlint-disable-next-line no-console -- whoever looks into it needs to see it
        console.error(problem)
        this.#queue = null
        this.#failures += 1
        await this.#rest(waitBefore(this.#failures))
    }

    #take(queue: Queue, events: ApiEvent[]): void {
        this.#failures = 0
        const news = events.filter((event) => event.id > queue.lastEventId)
        const last = events.at(-1)
        if (last) queue.lastEventId = Math.max(queue.lastEventId, last.id)
        this.#handlers.onOnline()
        if (news.length) this.#handlers.onEvents(news)
    }

    async #fail(error: ApiError): Promise<void> {
        if (error.kind === 'signedOut') {
            this.stop()
            this.#handlers.onSignedOut()
        } else if (error.code === 'BAD_EVENT_QUEUE_ID') {
            this.#queue = null
        } else if (error.code === 'ABORTED') {
            // Woken: the next poll answers at once, and tells whether the server is there.
            this.#failures = Math.max(this.#failures, 1)
        } else {
            this.#failures += 1
            // One failure may be a server that restarts, or a connection that was closed while it rested.
            if (this.#failures > 1) this.#handlers.onOffline(error)
            await this.#rest(waitBefore(this.#failures, error.retryAfter))
        }
    }

    #rest(milliseconds: number): Promise<void> {
        return new Promise((resolve) => {
            const timer = setTimeout(done, milliseconds)
            const finish = () => {
                clearTimeout(timer)
                done()
            }
            this.#wakeUp = finish
            function done() {
                resolve()
            }
        })
    }

    /** Polls follow each other at once, unless there have been many of them in a short time. */
    async #spare(): Promise<void> {
        const now = Date.now()
        this.#budget = Math.min(QUIET_POLLS, this.#budget + (now - this.#lastPoll) / STORM_GAP_MS) - 1
        this.#lastPoll = now
        if (this.#budget < 0) await this.#rest(STORM_GAP_MS)
    }
}
