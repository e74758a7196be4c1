/** All messages that were loaded, each once, shared by every place that shows them; events change them here.
 *
 *  A fetch and the events are two streams: an answer may be older than an event that arrived while it was under way. So events
 *  that touch messages are kept while any fetch is open, and applied again to what it brought. That is safe, because what
 *  they say is a state (this text, this flag), not a step. */
import type { Api, Answer } from './api'
import type { ApiEvent, ApiMessage, ApiMessages, EventOf, Id, NarrowTerm } from './api-types'
import { Message } from './message.svelte'

export interface FetchWindow {
    narrow: NarrowTerm[]
    anchor: Id | 'newest' | 'oldest' | 'first_unread'
    before: number
    after: number
    includeAnchor?: boolean
}

export interface Fetched {
    messages: Message[]
    foundOldest: boolean
    foundNewest: boolean
    /** Where the server put the window: the message asked for, or the first unread one. */
    anchor: Id
}

/** Somebody who shows messages: told after the messages have changed. */
export interface Listener {
    /** What is shown is kept. */
    readonly rows: readonly Message[]
    /** New messages, ascending. */
    arrived(messages: Message[]): void
    /** Their topic, channel or flags are others now. Some may not be loaded. */
    changed(ids: readonly Id[], isMove: boolean): void
    removed(ids: ReadonlySet<Id>): void
}

/** Events after which a message is another. */
type ChangeEvent = EventOf<'update_message' | 'update_message_flags' | 'reaction' | 'submessage' | 'message_sender'>
type MessagesEvent = ChangeEvent | EventOf<'message' | 'delete_message'>
const EVENTS: ReadonlySet<string> = new Set<MessagesEvent['type']>([
    'message',
    'update_message',
    'delete_message',
    'update_message_flags',
    'reaction',
    'submessage',
    'message_sender',
])
/** An event of our own making: no queue has numbered it. */
type Unnumbered<Event> = Event extends ApiEvent ? Omit<Event, 'id'> : never

/** More messages than this, and those that nobody shows are forgotten, the longest known first, until so few are left. */
const MOST = 800
const FEW = 500
/** After so many more it is tried again, if most of them are shown. */
const MORE = 200

export class Messages {
    readonly #api: Api
    readonly #byId = new Map<Id, Message>()
    readonly #listeners = new Set<Listener>()
    /** Events since the oldest fetch that is still under way began. */
    #journal: MessagesEvent[] = []
    #fetches = 0
    #deleted = new Set<Id>()
    #isForgetting = false
    #most = MOST
    /** Told what every fetch brought. */
    onFetched: (ids: readonly Id[]) => void = () => {}
    /** What every request is narrowed to, whatever else it asks for: of a visitor, what is open to the web. */
    within: readonly NarrowTerm[] = []
    /** Asked where nobody answers: what was loaded of a conversation the last time. */
    findKept: (key: string) => Promise<ApiMessage[]> = async () => []
    /** Counts registrations: what was fetched before the last one is not current. */
    #epoch = 0

    constructor(api: Api) {
        this.#api = api
    }

    get(id: Id): Message | undefined {
        return this.#byId.get(id)
    }

    get size(): number {
        return this.#byId.size
    }

    listen(listener: Listener): () => void {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
    }

    /** The queue is another one: whatever is loaded may have changed unheard. Who shows messages fetches them again. */
    reset(): void {
        this.#epoch += 1
        this.#journal = []
    }

    /** In a turn of its own: what a fetch brought is shown by then. While one is under way, what arrives may wait for it
     *  unshown. */
    #forgetSoon(): void {
        if (this.#byId.size <= this.#most || this.#isForgetting || this.#fetches > 0) return
        this.#isForgetting = true
        setTimeout(() => {
            this.#isForgetting = false
            this.#forget()
        })
    }

    #forget(): void {
        if (this.#fetches > 0) return
        const shown = new Set<Id>()
        for (const each of this.#listeners) for (const row of each.rows) shown.add(row.id)
        for (const [id, message] of this.#byId) {
            if (this.#byId.size <= FEW) break
            if (!shown.has(id) && !message.isKept) this.#byId.delete(id)
        }
        this.#most = Math.max(MOST, this.#byId.size + MORE)
    }

    async fetch(window: FetchWindow): Promise<Answer<Fetched>> {
        const answer = await this.#fetching(() =>
            this.#api.get<ApiMessages>('messages', {
                narrow: [...this.within, ...window.narrow],
                anchor: window.anchor,
                num_before: window.before,
                num_after: window.after,
                include_anchor: window.includeAnchor ?? true,
                apply_markdown: true,
                client_gravatar: false,
                allow_empty_topic_name: true,
            }),
        )
        if (!answer.ok) return answer
        const { found_oldest, found_newest, anchor } = answer.value
        const messages = this.#found(answer.value.messages)
        return { ok: true, value: { messages, foundOldest: found_oldest, foundNewest: found_newest, anchor } }
    }

    /** The first message of a place since a moment, or else its newest; null: there is none. */
    async since(narrow: NarrowTerm[], moment: Date): Promise<Answer<Message | null>> {
        const answer = await this.#fetching(() =>
            this.#api.get<ApiMessages>('messages', {
                narrow: [...this.within, ...narrow],
                anchor: 'date',
                anchor_date: moment.toISOString(),
                num_before: 0,
                num_after: 0,
                apply_markdown: true,
                client_gravatar: false,
                allow_empty_topic_name: true,
            }),
        )
        return answer.ok ? { ok: true, value: this.#found(answer.value.messages)[0] ?? null } : answer
    }

    /** These messages, as far as they exist and can be read. */
    async fetchIds(ids: readonly Id[]): Promise<Answer<Message[]>> {
        const answer = await this.#fetching(() =>
            this.#api.get<ApiMessages>('messages', {
                message_ids: ids,
                ...(this.within.length && { narrow: this.within }),
                apply_markdown: true,
                client_gravatar: false,
                allow_empty_topic_name: true,
            }),
        )
        return answer.ok ? { ok: true, value: this.#found(answer.value.messages) } : answer
    }

    /** What was loaded of a conversation when there was a network. */
    async kept(key: string): Promise<Message[]> {
        const found = await this.findKept(key)
        for (const data of found) if (!this.#byId.has(data.id)) this.#store(data)
        return this.#found(found)
    }

    /** A message of which no event tells: it is fetched, and is then as if it had arrived. */
    async bring(id: Id): Promise<void> {
        const answer = await this.fetchIds([id])
        if (answer.ok && answer.value.length) for (const each of this.#listeners) each.arrived(answer.value)
    }

    /** What a fetch brought, brought up to date with the events that came meanwhile. */
    async #fetching(fetch: () => Promise<Answer<ApiMessages>>): Promise<Answer<ApiMessages>> {
        const from = this.#journal.length
        const epoch = this.#epoch
        this.#fetches += 1
        const answer = await fetch()
        const missed = epoch === this.#epoch ? this.#journal.slice(from) : []
        this.#fetches -= 1
        if (answer.ok) {
            for (const data of answer.value.messages) this.#store(missed.reduce<ApiMessage>(changedBy, data))
            this.onFetched(answer.value.messages.map((data) => data.id))
        }
        if (this.#fetches === 0) {
            this.#journal = []
            this.#deleted = new Set()
            this.#forgetSoon()
        }
        return answer
    }

    #found(messages: ApiMessage[]): Message[] {
        return messages.flatMap((data) => this.#byId.get(data.id) ?? [])
    }

    #store(data: ApiMessage): Message | null {
        if (this.#deleted.has(data.id)) return null
        const known = this.#byId.get(data.id)
        if (known) {
            known.data = data
            return known
        }
        const message = new Message(data)
        this.#byId.set(data.id, message)
        this.#forgetSoon()
        return message
    }

    // Events

    /** Whether the event was about messages. Several of one answer are applied together: one change to see, not many. */
    apply(event: ApiEvent): boolean {
        if (!isAboutMessages(event)) return false
        if (this.#fetches > 0) this.#journal.push(event)
        if (event.type === 'message') this.#arrive(event)
        else if (event.type === 'delete_message') this.#remove(idsOf(event))
        else this.#change(event)
        return true
    }

    #arrive(event: EventOf<'message'>): void {
        const message = this.#store({ ...event.message, flags: event.flags })
        if (message) for (const each of this.#listeners) each.arrived([message])
    }

    #remove(ids: readonly Id[]): void {
        const gone = new Set(ids)
        for (const id of ids) {
            this.#byId.delete(id)
            if (this.#fetches > 0) this.#deleted.add(id)
        }
        for (const each of this.#listeners) each.removed(gone)
    }

    #change(event: ChangeEvent): void {
        const ids = isForAll(event) ? [...this.#byId.keys()] : idsOf(event)
        for (const id of ids) {
            const message = this.#byId.get(id)
            if (message) message.data = changedBy(message.data, event)
        }
        const isMoved = event.type === 'update_message' && isMove(event)
        for (const each of this.#listeners) each.changed(ids, isMoved)
    }

    /** What we did ourselves shows at once; the event that follows says the same. */
    expect(event: Unnumbered<ChangeEvent>): void {
        this.apply({ id: -1, ...event })
    }
}

export function isAboutMessages(event: ApiEvent): event is MessagesEvent {
    return EVENTS.has(event.type)
}

/** The messages that an event is about. */
export function idsOf(event: MessagesEvent): Id[] {
    switch (event.type) {
        case 'message':
            return [event.message.id]
        case 'update_message':
        case 'message_sender':
            return event.message_ids
        case 'delete_message':
            return event.message_ids ?? (event.message_id === undefined ? [] : [event.message_id])
        case 'update_message_flags':
            return event.messages
        case 'reaction':
        case 'submessage':
            return [event.message_id]
    }
}

/** Whether messages went to another topic or channel. */
export function isMove(event: EventOf<'update_message'>): boolean {
    return event.subject !== undefined || event.new_stream_id !== undefined
}

function isForAll(event: MessagesEvent): boolean {
    return event.type === 'update_message_flags' && event.all
}

/** A message after an event; the same object if it is not about it. Pure. */
export function changedBy(data: ApiMessage, event: MessagesEvent): ApiMessage {
    if (!isForAll(event) && !idsOf(event).includes(data.id)) return data
    switch (event.type) {
        case 'update_message_flags':
            return withFlag(data, event.flag, event.op === 'add')
        case 'reaction':
            return withReaction(data, event)
        case 'update_message':
            return edited(moved(data, event), event)
        case 'submessage':
            return withSubmessage(data, event)
        case 'message_sender':
            // Name, address and picture in the message were the old author's: who they are now is in the list of people.
            return { ...data, sender_id: event.sender_id, sender_full_name: '', sender_email: '', avatar_url: null }
        case 'message':
        case 'delete_message':
            return data
    }
}

function withFlag(data: ApiMessage, flag: string, isSet: boolean): ApiMessage {
    if (data.flags.includes(flag) === isSet) return data
    return { ...data, flags: isSet ? [...data.flags, flag] : data.flags.filter((each) => each !== flag) }
}

function withReaction(data: ApiMessage, event: EventOf<'reaction'>): ApiMessage {
    const { emoji_name, emoji_code, reaction_type, user_id } = event
    const others = data.reactions.filter(
        (each) => each.user_id !== user_id || each.emoji_code !== emoji_code || each.reaction_type !== reaction_type,
    )
    if (event.op === 'remove') return others.length === data.reactions.length ? data : { ...data, reactions: others }
    if (others.length < data.reactions.length) return data
    return { ...data, reactions: [...others, { emoji_name, emoji_code, reaction_type, user_id }] }
}

function moved(data: ApiMessage, event: EventOf<'update_message'>): ApiMessage {
    if (data.type !== 'stream') return data
    const subject = event.subject ?? data.subject
    const stream_id = event.new_stream_id ?? data.stream_id
    if (subject === data.subject && stream_id === data.stream_id) return data
    return { ...data, subject, stream_id, last_moved_timestamp: event.edit_timestamp }
}

/** Only the message itself is edited; the others of `message_ids` were moved with it. */
function edited(data: ApiMessage, event: EventOf<'update_message'>): ApiMessage {
    const html = event.rendered_content
    if (event.message_id !== data.id || html === undefined) return data
    // What a search marked in it was in the old text.
    const { match_content: _content, match_subject: _subject, ...rest } = data
    const changed: ApiMessage = {
        ...rest,
        content: html,
        is_me_message: event.is_me_message ?? data.is_me_message,
        flags: flagsAfter(data.flags, event.flags),
    }
    if (!event.rendering_only) changed.last_edit_timestamp = event.edit_timestamp
    return changed
}

/** An edit may mention me, or no longer; whether I have read or starred it is my own affair. */
function flagsAfter(old: readonly string[], now: readonly string[]): string[] {
    const own = ['read', 'starred', 'collapsed']
    return [...old.filter((flag) => own.includes(flag)), ...now.filter((flag) => !own.includes(flag))]
}

function withSubmessage(data: ApiMessage, event: EventOf<'submessage'>): ApiMessage {
    const { submessage_id: id, message_id, sender_id, msg_type, content } = event
    if (data.submessages.some((each) => each.id === id)) return data
    return { ...data, submessages: [...data.submessages, { id, message_id, sender_id, msg_type, content }] }
}
