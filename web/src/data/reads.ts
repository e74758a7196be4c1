/** Marking messages read: at once on the screen, in batches on the server, and again after a failure until it took them.
 *
 *  What was marked unread by hand stays so while it is being looked at, until whoever shows it says that the place was left. */
import type { Api } from './api'
import type { ApiEvent, Id } from './api-types'
import type { Messages } from './messages.svelte'
import { keyOf, narrowOf, type TalkPlace } from './place'
import { belongs, type TalkContext } from './talk.svelte'
import type { Unread } from './unread.svelte'

const BATCH_MS = 500
const MOST = 1000
const TRY_AGAIN_MS = 5000

export class Reads {
    readonly #api: Api
    readonly #messages: Messages
    readonly #unread: Unread
    readonly #context: TalkContext
    readonly #seen = new Set<Id>()
    /** Where messages are unread by hand, by `keyOf`, and from which on. */
    readonly #held = new Map<string, { place: TalkPlace; from: Id }>()
    #timer: ReturnType<typeof setTimeout> | null = null
    #isSending = false
    #isStopped = false

    constructor(api: Api, messages: Messages, unread: Unread, context: TalkContext) {
        this.#api = api
        this.#messages = messages
        this.#unread = unread
        this.#context = context
    }

    /** These were on the screen. */
    seen(ids: readonly Id[]): void {
        const fresh = ids.filter((id) => this.#isUnread(id) && !this.#seen.has(id) && !this.#isHeld(id))
        if (fresh.length === 0) return
        for (const id of fresh) this.#seen.add(id)
        this.#unread.read(fresh)
        this.#messages.expect({ type: 'update_message_flags', op: 'add', flag: 'read', messages: fresh, all: false })
        this.#later(BATCH_MS)
    }

    /** The counts do not know the oldest ones of very many; the message itself does. */
    #isUnread(id: Id): boolean {
        return this.#unread.has(id) || this.#messages.get(id)?.isUnread === true
    }

    #isHeld(id: Id): boolean {
        for (const { place, from } of this.#held.values()) if (id >= from && this.#isIn(place, id)) return true
        return false
    }

    #isIn(place: TalkPlace, id: Id): boolean {
        const message = this.#messages.get(id)
        return message !== undefined && belongs(place, message, this.#context) === true
    }

    /** A new registration brought the server's counts: what it does not know yet is still read. */
    reapply(): void {
        this.#unread.read([...this.#seen])
        if (this.#seen.size) this.#later(0)
    }

    /** Everything in a place. */
    async readAll(place: TalkPlace | 'everything'): Promise<boolean> {
        if (place === 'everything') this.#held.clear()
        else this.leave(place)
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

    /** Unread again, as they were. */
    async unreadAgain(ids: readonly Id[]): Promise<boolean> {
        for (let start = 0; start < ids.length; start += MOST) {
            const messages = ids.slice(start, start + MOST)
            for (const id of messages) this.#seen.delete(id)
            if (!(await this.#api.post('messages/flags', { messages, op: 'remove', flag: 'read' })).ok) return false
        }
        return true
    }

    /** Unread again, from this message to the end, until the place is left. */
    async unreadFrom(place: TalkPlace, id: Id): Promise<boolean> {
        this.#held.set(keyOf(place), { place, from: id })
        for (const each of this.#seen) if (each >= id && this.#isIn(place, each)) this.#seen.delete(each)
        return (await this.#narrow(place, 'remove', id, 0, 5000)).ok
    }

    /** Nobody looks at this place any more. One with several conversations has theirs. */
    leave(place: TalkPlace): void {
        if (place.kind === 'topic' || place.kind === 'direct') this.#held.delete(keyOf(place))
        else this.#held.clear()
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
        if (event.type !== 'update_message_flags' || event.flag !== 'read' || event.op !== 'remove') return
        for (const id of event.messages) this.#seen.delete(id)
    }
}
