/** One message: what the server said of it last. One signal for each, so that a change draws one row anew and no other. */
import type { ApiMessage, ApiNewMessage, ApiReaction, Id } from './api-types'
import { directPlace, type TalkPlace } from './place'

export class Message {
    readonly id: Id
    /** Somebody is changing it: it stays known though no list shows it. */
    isKept = false
    /** Replaced as a whole by every change, never changed in place. */
    data: ApiMessage = $state.raw(null as unknown as ApiMessage)

    constructor(data: ApiMessage) {
        this.id = data.id
        this.data = data
    }

    get senderId(): Id {
        return this.data.sender_id
    }
    get html(): string {
        return this.data.content
    }
    /** Seconds. */
    get timestamp(): number {
        return this.data.timestamp
    }
    get reactions(): readonly ApiReaction[] {
        return this.data.reactions
    }
    get channelId(): Id | null {
        return this.data.type === 'stream' ? this.data.stream_id : null
    }
    get topic(): string {
        return this.data.subject
    }
    /** Everybody in a direct conversation, me too. */
    get participantIds(): Id[] {
        return this.data.type === 'private' ? this.data.display_recipient.map((person) => person.id) : []
    }
    get isUnread(): boolean {
        return !this.data.flags.includes('read')
    }
    get isStarred(): boolean {
        return this.data.flags.includes('starred')
    }
    get isMentioned(): boolean {
        return isMention(this.data.flags)
    }
    get isEdited(): boolean {
        return this.data.last_edit_timestamp !== undefined
    }
    get isMoved(): boolean {
        return this.data.last_moved_timestamp !== undefined
    }

    /** Its topic or direct conversation. */
    conversation(me: Id): TalkPlace {
        return conversationOf(this.data, me)
    }
}

export function conversationOf(data: ApiNewMessage, me: Id): TalkPlace {
    if (data.type === 'stream') return { kind: 'topic', channelId: data.stream_id, topic: data.subject }
    return directPlace(
        data.display_recipient.map((person) => person.id),
        me,
    )
}

const MENTIONS = ['mentioned', 'stream_wildcard_mentioned', 'topic_wildcard_mentioned', 'group_mentioned']

export function isMention(flags: readonly string[]): boolean {
    return flags.some((flag) => MENTIONS.includes(flag))
}
