/** The topics of channels, the newest first: asked for when somebody looks at a channel, then kept current by events. */
import { SvelteMap } from 'svelte/reactivity'
import type { Api } from './api'
import type { ApiEvent, ApiMessage, ApiTopic, Id } from './api-types'

export class Topics {
    readonly #api: Api
    readonly #byChannel = new SvelteMap<Id, readonly ApiTopic[]>()
    readonly #loading = new Set<Id>()

    constructor(api: Api) {
        this.#api = api
    }

    /** What is known now; call `load` to have it asked for. */
    of(channelId: Id): readonly ApiTopic[] {
        return this.#byChannel.get(channelId) ?? []
    }

    isLoaded(channelId: Id): boolean {
        return this.#byChannel.has(channelId)
    }

    async load(channelId: Id): Promise<void> {
        if (this.#byChannel.has(channelId) || this.#loading.has(channelId)) return
        this.#loading.add(channelId)
        const answer = await this.#api.get<{ topics: ApiTopic[] }>(`users/me/${channelId}/topics`, {
            allow_empty_topic_name: true,
        })
        // An event that came meanwhile took this off: ask again when somebody looks again.
        if (!this.#loading.delete(channelId) || !answer.ok) return
        this.#byChannel.set(channelId, answer.value.topics)
    }

    /** A new registration: all of it may be old. */
    reset(): void {
        this.#loading.clear()
        const known = [...this.#byChannel.keys()]
        this.#byChannel.clear()
        for (const id of known) void this.load(id)
    }

    apply(event: ApiEvent): void {
        if (event.type === 'message') this.#arrived(event['message'] as ApiMessage)
        else if (event.type === 'update_message' && (event['subject'] !== undefined || event['new_stream_id'])) {
            this.#again(event['stream_id'] as Id)
            if (event['new_stream_id']) this.#again(event['new_stream_id'] as Id)
        } else if (event.type === 'delete_message' && event['stream_id']) this.#again(event['stream_id'] as Id)
    }

    #arrived(message: ApiMessage): void {
        if (message.type !== 'stream') return
        const topics = this.#byChannel.get(message.stream_id)
        if (!topics) {
            if (this.#loading.delete(message.stream_id)) void this.load(message.stream_id)
            return
        }
        const same = message.subject.toLowerCase()
        const old = topics.find((topic) => topic.name.toLowerCase() === same)
        const others = topics.filter((topic) => topic !== old)
        const max_id = Math.max(message.id, old?.max_id ?? 0)
        this.#byChannel.set(message.stream_id, [{ name: old?.name ?? message.subject, max_id }, ...others])
    }

    /** What remains of a topic after messages left it only the server knows. The old list stays until the new one is there. */
    #again(channelId: Id): void {
        if (!this.#byChannel.has(channelId)) {
            if (this.#loading.delete(channelId)) void this.load(channelId)
            return
        }
        void this.#api
            .get<{ topics: ApiTopic[] }>(`users/me/${channelId}/topics`, { allow_empty_topic_name: true })
            .then((answer) => {
                if (answer.ok && this.#byChannel.has(channelId)) this.#byChannel.set(channelId, answer.value.topics)
            })
    }
}
