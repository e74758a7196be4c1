/** What a person does to messages and topics, each as one call; what cannot fail in an interesting way shows at once. */
import type { Answer, Api } from './api'
import type { ApiReaction, Id } from './api-types'
import type { Message } from './message.svelte'
import type { Messages } from './messages.svelte'

export type MoveMode = 'change_one' | 'change_later' | 'change_all'
export interface Emoji {
    emoji_name: string
    emoji_code: string
    reaction_type: ApiReaction['reaction_type']
}
const RESOLVED = '✔ '

export class Acts {
    readonly #api: Api
    readonly #messages: Messages
    me: Id = 0

    constructor(api: Api, messages: Messages) {
        this.#api = api
        this.#messages = messages
    }

    /** React, or take my reaction back. Shown at once; put back if the server refuses. */
    async toggleReaction(message: Message, emoji: Emoji): Promise<Answer<object>> {
        const isMine = message.reactions.some(
            (each) =>
                each.user_id === this.me &&
                each.emoji_code === emoji.emoji_code &&
                each.reaction_type === emoji.reaction_type,
        )
        const event = { type: 'reaction' as const, message_id: message.id, user_id: this.me, ...emoji }
        this.#messages.expect({ ...event, op: isMine ? 'remove' : 'add' })
        const path = `messages/${message.id}/reactions`
        const answer = isMine ? await this.#api.delete(path, { ...emoji }) : await this.#api.post(path, { ...emoji })
        const isDone = !answer.ok && /REACTION_(ALREADY|DOES_NOT)/.test(answer.error.code)
        if (!answer.ok && !isDone) this.#messages.expect({ ...event, op: isMine ? 'add' : 'remove' })
        return answer
    }

    async toggleStar(message: Message): Promise<Answer<object>> {
        const [op, back] = message.isStarred ? (['remove', 'add'] as const) : (['add', 'remove'] as const)
        const event = { type: 'update_message_flags' as const, flag: 'starred', messages: [message.id], all: false }
        this.#messages.expect({ ...event, op })
        const answer = await this.#api.post('messages/flags', { messages: [message.id], op, flag: 'starred' })
        if (!answer.ok) this.#messages.expect({ ...event, op: back })
        return answer
    }

    /** The text as it was written. */
    async textOf(messageId: Id): Promise<Answer<string>> {
        const answer = await this.#api.get<{ message: { content: string } }>(`messages/${messageId}`, {
            apply_markdown: false,
        })
        return answer.ok ? { ok: true, value: answer.value.message.content } : answer
    }

    edit(messageId: Id, content: string): Promise<Answer<object>> {
        return this.#api.patch(`messages/${messageId}`, { content })
    }

    remove(messageId: Id): Promise<Answer<object>> {
        return this.#api.delete(`messages/${messageId}`)
    }

    /** Take the preview of a link from below a message of mine. */
    removePreview(messageId: Id, url: string): Promise<Answer<object>> {
        return this.#api.delete(`messages/${messageId}/link_previews`, { url })
    }

    move(
        messageId: Id,
        to: { topic?: string; channelId?: Id; mode: MoveMode; tellOld?: boolean; tellNew?: boolean },
    ): Promise<Answer<object>> {
        return this.#api.patch(`messages/${messageId}`, {
            propagate_mode: to.mode,
            ...(to.topic === undefined ? {} : { topic: to.topic }),
            ...(to.channelId === undefined ? {} : { stream_id: to.channelId }),
            send_notification_to_old_thread: to.tellOld ?? false,
            send_notification_to_new_thread: to.tellNew ?? true,
        })
    }

    /** Say that a topic is settled, or open again: by any of its messages. */
    toggleResolved(messageId: Id, topic: string): Promise<Answer<object>> {
        const now = isResolved(topic) ? topic.slice(RESOLVED.length) : RESOLVED + topic
        return this.move(messageId, { topic: now, mode: 'change_all' })
    }

    setTopicPolicy(channelId: Id, topic: string, policy: number): Promise<Answer<object>> {
        return this.#api.post('user_topics', { stream_id: channelId, topic, visibility_policy: policy })
    }

    render(content: string): Promise<Answer<{ rendered: string }>> {
        return this.#api.post('messages/render', { content })
    }
}

export function isResolved(topic: string): boolean {
    return topic.startsWith(RESOLVED)
}
