/** Pinned messages of topics and direct conversations: asked for when somebody opens one, then kept current by events. */
import { SvelteMap } from 'svelte/reactivity'
import type { Answer, Api } from './api'
import type { ApiEvent, ApiPin, EventOf, Id } from './api-types'
import { isMove } from './messages.svelte'
import { directPlace, keyOf, topicKey, type TalkPlace } from './place'

export class Pins {
    readonly #api: Api
    /** By `keyOf` the conversation, the last pinned first. */
    readonly #byTalk = new SvelteMap<string, readonly ApiPin[]>()
    /** The last question for each: only its answer counts. If something happened meanwhile it is asked again. */
    readonly #asked = new Map<string, { isOld: boolean }>()
    me: Id = 0

    constructor(api: Api) {
        this.#api = api
    }

    /** What is known now; call `load` to have it asked for. */
    of(place: TalkPlace): readonly ApiPin[] {
        return this.#byTalk.get(keyOf(place)) ?? []
    }

    has(place: TalkPlace, messageId: Id): boolean {
        return this.of(place).some((pin) => pin.message_id === messageId)
    }

    isLoaded(place: TalkPlace): boolean {
        return this.#byTalk.has(keyOf(place))
    }

    /** By one of its messages the conversation is known to the server. */
    async load(place: TalkPlace, messageId: Id): Promise<void> {
        const key = keyOf(place)
        if (this.#byTalk.has(key) || this.#asked.has(key)) return
        const asked = { isOld: true }
        this.#asked.set(key, asked)
        while (asked.isOld) {
            asked.isOld = false
            const answer = await this.#api.get<{ pins: ApiPin[] }>(`messages/${messageId}/pins`)
            if (this.#asked.get(key) !== asked) return
            if (answer.ok && !asked.isOld) this.#byTalk.set(key, answer.value.pins)
        }
        this.#asked.delete(key)
    }

    pin(messageId: Id): Promise<Answer<object>> {
        return this.#api.post(`messages/${messageId}/pin`)
    }

    unpin(messageId: Id): Promise<Answer<object>> {
        return this.#api.delete(`messages/${messageId}/pin`)
    }

    /** Another queue has begun: all of it may be old. */
    forget(): void {
        this.#byTalk.clear()
        this.#asked.clear()
    }

    apply(event: ApiEvent): void {
        if (event.type === 'pin') this.#pinned(event)
        else if (event.type === 'delete_message') this.#deleted(event)
        else if (event.type === 'update_message' && isMove(event)) this.#moved(event)
    }

    #pinned(event: EventOf<'pin'>): void {
        const { message_id, pinned_at } = event
        const key =
            event.stream_id === undefined
                ? keyOf(directPlace(event.user_ids ?? [], this.me))
                : topicKey(event.stream_id, event.topic ?? '')
        this.#age(key)
        const others = this.#byTalk.get(key)?.filter((pin) => pin.message_id !== message_id)
        if (others) this.#byTalk.set(key, pinned_at === undefined ? others : [{ message_id, pinned_at }, ...others])
    }

    #deleted(event: EventOf<'delete_message'>): void {
        const gone = new Set(event.message_ids ?? [event.message_id])
        for (const [key, pins] of this.#byTalk) {
            if (pins.some((pin) => gone.has(pin.message_id)))
                this.#byTalk.set(
                    key,
                    pins.filter((pin) => !gone.has(pin.message_id)),
                )
        }
    }

    /** Which pins went along only the server knows: whoever looks at one of these channels asks again. */
    #moved({ stream_id: from, new_stream_id: to }: EventOf<'update_message'>): void {
        for (const key of new Set([...this.#byTalk.keys(), ...this.#asked.keys()])) {
            const isThere = [from, to].some((id) => id !== undefined && key.startsWith(topicKey(id, '')))
            if (!isThere) continue
            this.#byTalk.delete(key)
            this.#age(key)
        }
    }

    #age(key: string): void {
        const asked = this.#asked.get(key)
        if (asked) asked.isOld = true
    }
}
