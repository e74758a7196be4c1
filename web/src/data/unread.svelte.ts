/** What is unread: exact numbers by topic and by direct conversation, from the initial state and the events since.
 *
 *  Every unread message is in one conversation here. Counts are kept, not computed: showing them costs nothing. */
import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import type { ApiEvent, ApiUnread, ApiUnreadDetails, EventOf, Id } from './api-types'
import { conversationOf, isMention } from './message.svelte'
import { idsOf, isMove } from './messages.svelte'
import { directPlace, keyOf, topicKey, type TalkPlace } from './place'

/** A conversation with unread messages. */
export class UnreadTalk {
    readonly place: TalkPlace
    readonly key: string
    readonly ids = new SvelteSet<Id>()

    constructor(place: TalkPlace) {
        this.place = place
        this.key = keyOf(place)
    }

    get count(): number {
        return this.ids.size
    }
    get oldest(): Id {
        return Math.min(...this.ids)
    }
    get newest(): Id {
        return Math.max(...this.ids)
    }
}

interface Rules {
    readonly me: Id
    isTopicMuted(channelId: Id, topic: string): boolean
    isSubscribed(channelId: Id): boolean
}

export class Unread {
    /** Conversations with something unread, by `keyOf`. */
    readonly talks = new SvelteMap<string, UnreadTalk>()
    readonly mentions = new SvelteSet<Id>()
    /** There were more than the server counts. */
    isIncomplete = $state(false)
    readonly #rules: Rules
    readonly #whereabouts = new Map<Id, UnreadTalk>()

    /** Direct messages, and channel messages that are not muted. */
    readonly total: number = $derived.by(() => {
        let sum = 0
        for (const talk of this.talks.values()) if (this.counts(talk)) sum += talk.count
        return sum
    })
    readonly directCount: number = $derived.by(() => {
        let sum = 0
        for (const talk of this.talks.values()) if (talk.place.kind === 'direct') sum += talk.count
        return sum
    })
    readonly #channelCounts: ReadonlyMap<Id, { loud: number; muted: number }> = $derived.by(() => this.#byChannel())

    constructor(rules: Rules) {
        this.#rules = rules
    }

    load(state: ApiUnread): void {
        this.talks.clear()
        this.mentions.clear()
        this.#whereabouts.clear()
        this.isIncomplete = state.old_unreads_missing
        const { me } = this.#rules
        for (const each of state.streams) {
            this.#add(each.unread_message_ids, { kind: 'topic', channelId: each.stream_id, topic: each.topic })
        }
        for (const each of state.pms) this.#add(each.unread_message_ids, directPlace([each.other_user_id], me))
        for (const each of state.huddles) {
            this.#add(each.unread_message_ids, directPlace(each.user_ids_string.split(',').map(Number), me))
        }
        for (const id of state.mentions) this.mentions.add(id)
    }

    // Questions

    has(id: Id): boolean {
        return this.#whereabouts.has(id)
    }

    /** How many are unread in a topic or a direct conversation, muted or not. */
    of(place: TalkPlace): number {
        if (place.kind === 'channel') return this.channel(place.channelId).loud + this.channel(place.channelId).muted
        if (place.kind === 'feed') return this.total
        if (place.kind === 'mentioned') return this.mentions.size
        return this.talks.get(keyOf(place))?.count ?? 0
    }

    /** The unread messages of a place, muted or not. */
    idsIn(place: TalkPlace | 'everything'): Id[] {
        if (place === 'everything') return [...this.#whereabouts.keys()]
        if (place.kind === 'topic' || place.kind === 'direct') return [...(this.talks.get(keyOf(place))?.ids ?? [])]
        if (place.kind === 'mentioned') return [...this.mentions]
        const isIn = (talk: UnreadTalk) =>
            place.kind === 'channel'
                ? talk.place.kind === 'topic' && talk.place.channelId === place.channelId
                : place.kind === 'feed' && this.counts(talk)
        return [...this.talks.values()].filter(isIn).flatMap((talk) => [...talk.ids])
    }

    /** In a channel: what is not muted, and what is. */
    channel(channelId: Id): { loud: number; muted: number } {
        return this.#channelCounts.get(channelId) ?? { loud: 0, muted: 0 }
    }

    /** Where I am mentioned last in a conversation, among what is unread. */
    newestMention(talk: UnreadTalk): Id | null {
        let newest: Id | null = null
        for (const id of this.mentions) if (talk.ids.has(id) && id > (newest ?? 0)) newest = id
        return newest
    }

    hasMention(talk: UnreadTalk): boolean {
        return this.newestMention(talk) !== null
    }

    /** Whether a conversation is part of the total. */
    counts(talk: UnreadTalk): boolean {
        const { place } = talk
        if (place.kind !== 'topic') return true
        return this.#rules.isSubscribed(place.channelId) && !this.#rules.isTopicMuted(place.channelId, place.topic)
    }

    #byChannel(): Map<Id, { loud: number; muted: number }> {
        const counts = new Map<Id, { loud: number; muted: number }>()
        for (const talk of this.talks.values()) {
            if (talk.place.kind !== 'topic') continue
            const { channelId, topic } = talk.place
            const sum = counts.get(channelId) ?? { loud: 0, muted: 0 }
            sum[this.#rules.isTopicMuted(channelId, topic) ? 'muted' : 'loud'] += talk.count
            counts.set(channelId, sum)
        }
        return counts
    }

    // Events

    apply(event: ApiEvent): void {
        switch (event.type) {
            case 'message':
                this.#arrived(event)
                break
            case 'update_message_flags':
                this.#flags(event)
                break
            case 'update_message':
                this.#edited(event)
                break
            case 'delete_message':
                this.#remove(idsOf(event))
                break
            case 'subscription':
                if (event.op === 'remove') this.#leave(event.subscriptions)
        }
    }

    /** Read by us; the event that follows says the same. */
    read(ids: readonly Id[]): void {
        this.#remove(ids)
    }

    #arrived({ message, flags }: EventOf<'message'>): void {
        if (flags.includes('read')) return
        this.#add([message.id], conversationOf(message, this.#rules.me))
        if (isMention(flags)) this.mentions.add(message.id)
    }

    #flags(event: EventOf<'update_message_flags'>): void {
        if (event.flag !== 'read') return
        if (event.op === 'remove') this.#unread(event.message_details ?? {})
        else this.#remove(event.all ? [...this.#whereabouts.keys()] : event.messages)
    }

    #unread(details: Record<string, ApiUnreadDetails>): void {
        for (const [text, detail] of Object.entries(details)) {
            const place: TalkPlace =
                detail.type === 'private'
                    ? directPlace(detail.user_ids ?? [], this.#rules.me)
                    : { kind: 'topic', channelId: detail.stream_id ?? 0, topic: detail.topic ?? '' }
            this.#add([Number(text)], place)
            if (detail.mentioned) this.mentions.add(Number(text))
        }
    }

    #edited(event: EventOf<'update_message'>): void {
        this.#mention(event)
        if (!isMove(event)) return
        for (const id of event.message_ids) {
            const old = this.#whereabouts.get(id)
            if (old?.place.kind !== 'topic') continue
            const place: TalkPlace = {
                kind: 'topic',
                channelId: event.new_stream_id ?? old.place.channelId,
                topic: event.subject ?? old.place.topic,
            }
            this.#take(id, old)
            this.#add([id], place)
        }
    }

    #mention({ message_id: id, rendered_content, flags }: EventOf<'update_message'>): void {
        if (rendered_content === undefined || !this.#whereabouts.has(id)) return
        if (isMention(flags)) this.mentions.add(id)
        else this.mentions.delete(id)
    }

    #leave(channels: readonly { stream_id: Id }[]): void {
        const gone = new Set(channels.map((each) => each.stream_id))
        for (const talk of this.talks.values()) {
            if (talk.place.kind === 'topic' && gone.has(talk.place.channelId)) this.#remove([...talk.ids])
        }
    }

    #add(ids: readonly Id[], place: TalkPlace): void {
        if (ids.length === 0) return
        const key = place.kind === 'topic' ? topicKey(place.channelId, place.topic) : keyOf(place)
        let talk = this.talks.get(key)
        if (!talk) {
            talk = new UnreadTalk(place)
            this.talks.set(key, talk)
        }
        for (const id of ids) {
            const old = this.#whereabouts.get(id)
            if (old && old !== talk) this.#take(id, old)
            talk.ids.add(id)
            this.#whereabouts.set(id, talk)
        }
    }

    #remove(ids: readonly Id[]): void {
        for (const id of ids) {
            const talk = this.#whereabouts.get(id)
            if (!talk) continue
            this.#take(id, talk)
            this.#whereabouts.delete(id)
            this.mentions.delete(id)
        }
    }

    #take(id: Id, talk: UnreadTalk): void {
        talk.ids.delete(id)
        // Another may have taken its place: a topic whose letters only changed their case.
        if (talk.ids.size === 0 && this.talks.get(talk.key) === talk) this.talks.delete(talk.key)
    }
}
