/** Messages to be sent later. */
import { SvelteMap } from 'svelte/reactivity'
import type { Answer, Api } from './api'
import type { ApiEvent, ApiScheduled, Id } from './api-types'
import { directPlace } from './place'
import type { SendPlace } from './outbox.svelte'

export class Scheduled {
    readonly #api: Api
    readonly #byId = new SvelteMap<Id, ApiScheduled>()
    /** The next one first. */
    readonly all: readonly ApiScheduled[] = $derived(
        [...this.#byId.values()].sort((a, b) => a.scheduled_delivery_timestamp - b.scheduled_delivery_timestamp),
    )

    constructor(api: Api) {
        this.#api = api
    }

    load(scheduled: readonly ApiScheduled[]): void {
        this.#byId.clear()
        for (const each of scheduled) this.#byId.set(each.scheduled_message_id, each)
    }

    apply(event: ApiEvent): void {
        if (event.type !== 'scheduled_messages') return
        switch (event.op) {
            case 'add':
                for (const each of event.scheduled_messages) this.#byId.set(each.scheduled_message_id, each)
                break
            case 'update':
                this.#byId.set(event.scheduled_message.scheduled_message_id, event.scheduled_message)
                break
            case 'remove':
                this.#byId.delete(event.scheduled_message_id)
        }
    }

    /** `at` in seconds. */
    schedule(place: SendPlace, content: string, at: number): Promise<Answer<{ scheduled_message_id: Id }>> {
        const to =
            place.kind === 'topic'
                ? { type: 'channel', to: place.channelId, topic: place.topic }
                : { type: 'direct', to: place.userIds }
        return this.#api.post('scheduled_messages', { ...to, content, scheduled_delivery_timestamp: at })
    }

    change(id: Id, changes: { content?: string; scheduled_delivery_timestamp?: number }): Promise<Answer<object>> {
        return this.#api.patch(`scheduled_messages/${id}`, changes)
    }

    cancel(id: Id): Promise<Answer<object>> {
        return this.#api.delete(`scheduled_messages/${id}`)
    }

    placeOf(message: ApiScheduled, me: Id): SendPlace {
        if (message.type === 'stream') {
            return { kind: 'topic', channelId: message.to as Id, topic: message.topic ?? '' }
        }
        return directPlace(message.to as Id[], me) as SendPlace
    }
}
