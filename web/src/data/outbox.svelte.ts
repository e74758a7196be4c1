/** What was written and is not yet known to have arrived: shown at once, sent in order, kept over a reload.
 *
 *  Each message has a number of its own, which is its Idempotency-Key: however often it is sent, by whichever tab, it arrives once.
 *  The server knows such numbers for a day; what it did not confirm by then is sent again only by hand.
 *  It leaves the outbox when its message is here: by the event (which carries our number back), or by any fetch; where no event tells
 *  of it, because we do not follow the channel, it is fetched.
 *  A refusal stops only that message; while the server is away, all wait. */
import { SvelteMap } from 'svelte/reactivity'
import type { Api, ApiError } from './api'
import type { ApiEvent, Id } from './api-types'
import { waitBefore } from './backoff'
import { readJson, type Keep } from './keep'
import { keyOf, type TalkPlace } from './place'

export type SendPlace = Extract<TalkPlace, { kind: 'topic' | 'direct' }>

interface Kept {
    localId: string
    place: SendPlace
    content: string
    writtenAt: number
    failed: string | null
}

export class Outgoing {
    readonly localId: string
    readonly place: SendPlace
    readonly content: string
    /** Milliseconds. */
    readonly writtenAt: number
    /** sent: the server has it, its event has not come yet. */
    state: 'waiting' | 'sending' | 'sent' | 'failed' = $state('waiting')
    /** Why it was refused, in the server's words. */
    error: string | null = $state(null)
    /** Failed because nobody knows whether it arrived: it waited for longer than the server knows its number. */
    isUnconfirmed = $state(false)
    messageId: Id | null = null
    /** Milliseconds: when it was written, or sent again by hand. */
    triedFrom: number
    readonly #outbox: Outbox

    constructor(kept: Kept, outbox: Outbox) {
        this.localId = kept.localId
        this.place = kept.place
        this.content = kept.content
        this.writtenAt = kept.writtenAt
        this.triedFrom = kept.writtenAt
        this.#outbox = outbox
        if (kept.failed !== null) {
            this.state = 'failed'
            this.error = kept.failed
        }
    }

    retry(): void {
        this.#outbox.retry(this)
    }

    discard(): void {
        this.#outbox.discard(this)
    }
}

/** An hour less than the server knows our numbers. */
const CONFIRMED_WITHIN_MS = 23 * 3600 * 1000
const PREFIX = 'tertulia:outbox:'

export class Outbox {
    readonly #api: Api
    readonly #keep: Keep
    readonly #items = new SvelteMap<string, Outgoing>()
    #me: Id = 0
    #isSending = false
    #isStopped = false
    #again: ReturnType<typeof setTimeout> | null = null
    /** The queue that gets our number back with the message. */
    queueId: () => string | null = () => null
    /** Whether a message is loaded already. */
    isHere: (id: Id) => boolean = () => false
    /** Whether an event tells us of what is sent there. */
    isTold: (place: SendPlace) => boolean = () => true
    /** Load a message of which no event tells. */
    bring: (id: Id) => Promise<void> = () => Promise.resolve()
    onOffline: (error: ApiError) => void = () => {}

    constructor(api: Api, keep: Keep) {
        this.#api = api
        this.#keep = keep
    }

    /** Find what an earlier page did not get rid of. */
    load(me: Id): void {
        this.#me = me
        for (const name of this.#keep.names(this.#prefix)) {
            const kept = readJson<Kept>(this.#keep, name)
            if (kept && !this.#items.has(kept.localId)) this.#items.set(kept.localId, new Outgoing(kept, this))
        }
        void this.flush()
    }

    get #prefix(): string {
        return `${PREFIX}${this.#me}:`
    }

    get all(): Outgoing[] {
        return [...this.#items.values()].sort((a, b) => a.writtenAt - b.writtenAt)
    }

    /** What is on its way to this topic or conversation, in the order of writing. A channel has that of all its topics. */
    of(place: TalkPlace): Outgoing[] {
        if (place.kind === 'feed') return this.all
        if (place.kind === 'channel') {
            return this.all.filter((each) => each.place.kind === 'topic' && each.place.channelId === place.channelId)
        }
        if (place.kind === 'directs') return this.all.filter((each) => each.place.kind === 'direct')
        const key = keyOf(place)
        return this.all.filter((each) => keyOf(each.place) === key)
    }

    send(place: SendPlace, content: string): Outgoing {
        const kept: Kept = { localId: crypto.randomUUID(), place, content, writtenAt: Date.now(), failed: null }
        const item = new Outgoing(kept, this)
        this.#items.set(item.localId, item)
        this.#remember(item)
        void this.flush()
        return item
    }

    retry(item: Outgoing): void {
        if (item.state !== 'failed') return
        item.state = 'waiting'
        item.error = null
        item.isUnconfirmed = false
        item.triedFrom = Date.now()
        this.#remember(item)
        void this.flush()
    }

    discard(item: Outgoing): void {
        if (item.state === 'sending') return
        this.#forget(item)
    }

    /** Nothing goes out any more: whoever signs in next is somebody else. What waits stays in the browser. */
    stop(): void {
        this.#isStopped = true
        if (this.#again) clearTimeout(this.#again)
    }

    /** Send what waits, one after the other. */
    async flush(): Promise<void> {
        if (this.#isSending || this.#isStopped) return
        if (this.#again) clearTimeout(this.#again)
        this.#again = null
        this.#isSending = true
        let wait: number | null = null
        for (;;) {
            const next = this.all.find((item) => item.state === 'waiting')
            if (!next) break
            // oxlint-disable-next-line no-await-in-loop -- in order: the second must not overtake the first
            wait = await this.#sendOne(next)
            if (wait !== null || this.#isStopped) break
        }
        this.#isSending = false
        if (this.#isStopped) return
        if (wait !== null) this.#again = setTimeout(() => void this.flush(), wait)
    }

    /** Milliseconds to wait before the next try, if the server is away. */
    async #sendOne(item: Outgoing): Promise<number | null> {
        if (Date.now() - item.triedFrom > CONFIRMED_WITHIN_MS) {
            item.state = 'failed'
            item.isUnconfirmed = true
            return null
        }
        item.state = 'sending'
        const queue = this.queueId()
        const { place } = item
        const answer = await this.#api.post<{ id: Id }>(
            'messages',
            {
                ...(place.kind === 'topic'
                    ? { type: 'channel', to: place.channelId, topic: place.topic }
                    : { type: 'direct', to: place.userIds }),
                content: item.content,
                read_by_sender: true,
                ...(queue ? { queue_id: queue, local_id: item.localId } : {}),
            },
            { headers: { 'Idempotency-Key': item.localId } },
        )
        if (answer.ok) {
            item.messageId = answer.value.id
            item.state = 'sent'
            this.#keep.delete(this.#prefix + item.localId)
            if (this.isHere(item.messageId)) this.#forget(item)
            else if (!this.isTold(place)) void this.bring(item.messageId)
            return null
        }
        const { error } = answer
        if (error.kind === 'offline' || error.kind === 'busy' || error.kind === 'signedOut') {
            item.state = 'waiting'
            this.onOffline(error)
            return waitBefore(3, error.retryAfter)
        }
        item.state = 'failed'
        item.error = error.msg
        this.#remember(item)
        return null
    }

    apply(event: ApiEvent): void {
        if (event.type !== 'message') return
        const number = event.local_message_id ?? event.local_id
        const own = number === undefined ? undefined : this.#items.get(number)
        if (own) this.#forget(own)
        this.found([event.message.id])
    }

    /** These messages are here. */
    found(ids: readonly Id[]): void {
        for (const item of this.#items.values()) {
            if (item.messageId !== null && ids.includes(item.messageId)) this.#forget(item)
        }
    }

    /** Everything shown was loaded again: what the server has is among it. */
    reloaded(): void {
        for (const item of this.#items.values()) if (item.state === 'sent') this.#forget(item)
    }

    /** Another tab sent it, or threw it away. */
    goneElsewhere(name: string): void {
        const item = this.#items.get(name.slice(this.#prefix.length))
        if (item && name.startsWith(this.#prefix) && (item.state === 'waiting' || item.state === 'failed')) {
            this.#items.delete(item.localId)
        }
    }

    #remember(item: Outgoing): void {
        const { localId, place, content, writtenAt, error } = item
        const kept: Kept = { localId, place, content, writtenAt, failed: error }
        this.#keep.set(this.#prefix + localId, JSON.stringify(kept))
    }

    #forget(item: Outgoing): void {
        this.#items.delete(item.localId)
        this.#keep.delete(this.#prefix + item.localId)
    }
}
