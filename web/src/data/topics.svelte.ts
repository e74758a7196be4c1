/** The topics of channels, the newest first: asked for when somebody looks at a channel, then kept current by events. */
import { SvelteMap } from 'svelte/reactivity'
import type { Api } from './api'
import type { ApiEvent, ApiNewMessage, ApiTopic, Id } from './api-types'
import { isMove } from './messages.svelte'
import { isSameTopic } from './place'

/** A list that is being asked for. */
interface Asked {
    /** Messages that came since. */
    meanwhile: ApiNewMessage[]
}

export class Topics {
    readonly #api: Api
    readonly #byChannel = new SvelteMap<Id, readonly ApiTopic[]>()
    /** The last question for each channel: only its answer counts. */
    readonly #asked = new Map<Id, Asked>()

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
        if (!this.#byChannel.has(channelId) && !this.#asked.has(channelId)) await this.#ask(channelId)
    }

    async #ask(channelId: Id): Promise<void> {
        const asked: Asked = { meanwhile: [] }
        this.#asked.set(channelId, asked)
        const answer = await this.#api.get<{ topics: ApiTopic[] }>(`users/me/${channelId}/topics`, {
            allow_empty_topic_name: true,
        })
        if (this.#asked.get(channelId) !== asked) return
        this.#asked.delete(channelId)
        if (answer.ok) this.#byChannel.set(channelId, asked.meanwhile.reduce(withMessage, answer.value.topics))
    }

    /** A new registration: all of it may be old. The old lists stay until the new ones are there. */
    reset(): void {
        for (const id of new Set([...this.#byChannel.keys(), ...this.#asked.keys()])) void this.#ask(id)
    }

    apply(event: ApiEvent): void {
        switch (event.type) {
            case 'message':
                this.#arrived(event.message)
                break
            case 'update_message':
                if (!isMove(event)) break
                this.#again(event.stream_id)
                this.#again(event.new_stream_id)
                break
            case 'delete_message':
                this.#again(event.stream_id)
        }
    }

    #arrived(message: ApiNewMessage): void {
        if (message.type !== 'stream') return
        this.#asked.get(message.stream_id)?.meanwhile.push(message)
        const topics = this.#byChannel.get(message.stream_id)
        if (topics) this.#byChannel.set(message.stream_id, withMessage(topics, message))
    }

    /** What remains of a topic after messages left it only the server knows. The old list stays until the new one is there. */
    #again(channelId: Id | undefined): void {
        if (channelId === undefined) return
        if (this.#byChannel.has(channelId) || this.#asked.has(channelId)) void this.#ask(channelId)
    }
}

function withMessage(topics: readonly ApiTopic[], message: ApiNewMessage): readonly ApiTopic[] {
    const old = topics.find((topic) => isSameTopic(topic.name, message.subject))
    if (old && old.max_id >= message.id) return topics
    const others = topics.filter((topic) => topic !== old)
    const grown = { name: old?.name ?? message.subject, max_id: message.id }
    return [grown, ...others].sort((a, b) => b.max_id - a.max_id)
}
