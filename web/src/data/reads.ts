/** Marking messages read: at once on the screen, in batches on the server, and again after a failure until it took them. */
import type { Api } from './api'
import type { ApiEvent, Id } from './api-types'
import type { Messages } from './messages.svelte'
import { narrowOf, type TalkPlace } from './place'
import type { Unread } from './unread.svelte'

const BATCH_MS = 500
const MOST = 1000
const TRY_AGAIN_MS = 5000

export class Reads {
    readonly #api: Api
    readonly #messages: Messages
    readonly #unread: Unread
    readonly #seen = new Set<Id>()
    #timer: ReturnType<typeof setTimeout> | null = null
    #isSending = false
    #isStopped = false

    constructor(api: Api, messages: Messages, unread: Unread) {
        this.#api = api
        this.#messages = messages
        this.#unread = unread
    }

    /** These were on the screen. */
    seen(ids: readonly Id[]): void {
        const fresh = ids.filter((id) => this.#unread.has(id) && !this.#seen.has(id))
        if (fresh.length === 0) return
        for (const id of fresh) this.#seen.add(id)
        this.#unread.read(fresh)
        this.#messages.expect({ type: 'update_message_flags', op: 'add', flag: 'read', messages: fresh })
        this.#later(BATCH_MS)
    }

    /** A new registration brought the server's counts: what it does not know yet is still read. */
    reapply(): void {
        this.#unread.read([...this.#seen])
        if (this.#seen.size) this.#later(0)
    }

    /** Everything in a place. */
    async readAll(place: TalkPlace | 'everything'): Promise<boolean> {
        const ask = () => {
            if (place === 'everything') return this.#api.post('mark_all_as_read')
            if (place.kind === 'channel') return this.#api.post('mark_stream_as_read', { stream_id: place.channelId })
            if (place.kind === 'topic') {
                const { channelId, topic } = place
                return this.#api.post('mark_topic_as_read', { stream_id: channelId, topic_name: topic })
            }
            return this.#narrow(place, 'add', 'newest', 5000, 0)
        }
        return (await ask()).ok
    }

    /** Unread again, from this message to the end. */
    async unreadFrom(place: TalkPlace, id: Id): Promise<boolean> {
        for (const each of this.#seen) if (each >= id) this.#seen.delete(each)
        return (await this.#narrow(place, 'remove', id, 0, 5000)).ok
    }

    #narrow(place: TalkPlace, op: 'add' | 'remove', anchor: Id | 'newest', num_before: number, num_after: number) {
        const narrow = narrowOf(place)
        return this.#api.post('messages/flags/narrow', {
            anchor: String(anchor),
            num_before,
            num_after,
            narrow,
            op,
            flag: 'read',
            include_anchor: true,
        })
    }

    #later(milliseconds: number): void {
        if (this.#isStopped) return
        this.#timer ??= setTimeout(() => void this.flush(), milliseconds)
    }

    /** Nothing goes out any more: whoever signs in next is somebody else. */
    stop(): void {
        this.#isStopped = true
        if (this.#timer) clearTimeout(this.#timer)
    }

    async flush(): Promise<void> {
        if (this.#timer) clearTimeout(this.#timer)
        this.#timer = null
        if (this.#isSending || this.#isStopped || this.#seen.size === 0) return
        const batch = [...this.#seen].slice(0, MOST)
        this.#isSending = true
        const answer = await this.#api.post('messages/flags', { messages: batch, op: 'add', flag: 'read' })
        this.#isSending = false
        if (answer.ok || answer.error.kind === 'refused') for (const id of batch) this.#seen.delete(id)
        if (this.#seen.size) this.#later(answer.ok ? BATCH_MS : TRY_AGAIN_MS)
    }

    /** Marked unread elsewhere: what we were about to say is outdated. */
    apply(event: ApiEvent): void {
        if (event.type !== 'update_message_flags' || event['flag'] !== 'read' || event.op !== 'remove') return
        for (const id of event['messages'] as Id[]) this.#seen.delete(id)
    }
}
