/** Who is typing where. Somebody who does not say that they stopped is taken off after a while. */
import { SvelteMap } from 'svelte/reactivity'
import type { Api } from './api'
import type { ApiEvent, EventOf, Id } from './api-types'
import { directPlace, keyOf, type TalkPlace } from './place'

interface Waits {
    /** Milliseconds, as the server asks: say again that one types, stop after a pause, forget others. */
    started: number
    stopped: number
    expiry: number
}

export class Typing {
    readonly #api: Api
    /** By `keyOf`: who, and the timer that takes them off. */
    readonly #typing = new SvelteMap<string, ReadonlyMap<Id, ReturnType<typeof setTimeout>>>()
    #me: Id = 0
    #waits: Waits = { started: 30_000, stopped: 12_000, expiry: 45_000 }
    #own: { place: TalkPlace; saidAt: number; pause: ReturnType<typeof setTimeout> } | null = null
    isAllowed: (place: TalkPlace) => boolean = () => true

    constructor(api: Api) {
        this.#api = api
    }

    load(me: Id, waits: Waits): void {
        this.#me = me
        this.#waits = waits
    }

    /** Other people who are typing in this topic or conversation. */
    in(place: TalkPlace): Id[] {
        return [...(this.#typing.get(keyOf(place))?.keys() ?? [])]
    }

    apply(event: ApiEvent): void {
        if (event.type === 'message') this.#sent(event.message.sender_id)
        if (event.type !== 'typing') return
        const sender = event.sender.user_id
        if (sender === this.#me) return
        if (event.op === 'start') this.#start(keyOf(this.#placeOf(event)), sender)
        else this.#stop(keyOf(this.#placeOf(event)), sender)
    }

    #placeOf({ message_type, stream_id = 0, topic = '', recipients = [] }: EventOf<'typing'>): TalkPlace {
        if (message_type === 'stream') return { kind: 'topic', channelId: stream_id, topic }
        return directPlace(
            recipients.map((each) => each.user_id),
            this.#me,
        )
    }

    /** Whoever has sent is not typing any more, whatever their notice says. */
    #sent(sender: Id): void {
        for (const key of this.#typing.keys()) this.#stop(key, sender)
    }

    #start(key: string, user: Id): void {
        const people = new Map(this.#typing.get(key))
        clearTimeout(people.get(user))
        people.set(
            user,
            setTimeout(() => this.#stop(key, user), this.#waits.expiry),
        )
        this.#typing.set(key, people)
    }

    #stop(key: string, user: Id): void {
        const people = new Map(this.#typing.get(key))
        if (!people.has(user)) return
        clearTimeout(people.get(user))
        people.delete(user)
        if (people.size) this.#typing.set(key, people)
        else this.#typing.delete(key)
    }

    // What I type

    /** A key was pressed here. Others are told now and then, and that it ended after a pause. */
    pressed(place: TalkPlace): void {
        if (!this.isAllowed(place)) return
        if (this.#own && keyOf(this.#own.place) !== keyOf(place)) this.ended()
        const now = Date.now()
        const pause = setTimeout(() => this.ended(), this.#waits.stopped)
        if (this.#own) {
            clearTimeout(this.#own.pause)
            this.#own.pause = pause
            if (now - this.#own.saidAt < this.#waits.started) return
            this.#own.saidAt = now
        } else this.#own = { place, saidAt: now, pause }
        this.#say('start', place)
    }

    /** Sent, emptied, or left alone. */
    ended(): void {
        if (!this.#own) return
        clearTimeout(this.#own.pause)
        this.#say('stop', this.#own.place)
        this.#own = null
    }

    #say(op: 'start' | 'stop', place: TalkPlace): void {
        if (place.kind === 'topic') {
            void this.#api.post('typing', { op, type: 'stream', stream_id: place.channelId, topic: place.topic })
        } else if (place.kind === 'direct') {
            void this.#api.post('typing', { op, type: 'direct', to: place.userIds })
        }
    }
}
