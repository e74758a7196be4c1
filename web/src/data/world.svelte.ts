/** Everything a signed-in person's client knows, put together: one `World` from signing in to signing out.
 *
 *  `begin` registers and starts the loop. A queue that was lost is replaced without anybody noticing but by a moment's rest: the
 *  state is loaded anew, open talks are fetched again around what is being read, what was typed and what waits to be sent stays. */
import { untrack } from 'svelte'
import type { Answer, Api, ApiError } from './api'
import type { ApiEvent, EventOf, Id, InitialState } from './api-types'
import { Acts } from './acts'
import { Directs } from './directs.svelte'
import { Drafts } from './drafts.svelte'
import { EventLoop, type LoopHandlers, type Queue } from './events'
import { Exports } from './exports.svelte'
import { Files } from './files.svelte'
import { Glimpses } from './glimpses.svelte'
import { browserKeep, type Keep } from './keep'
import { LastRead } from './last-read'
import { Connection, watchWaking } from './connection.svelte'
import { idsOf, isMove, Messages } from './messages.svelte'
import { Outbox } from './outbox.svelte'
import { isSameTopic, keyOf, type TalkPlace } from './place'
import { Pins } from './pins.svelte'
import { Presence } from './presence.svelte'
import { Reads } from './reads'
import { Realm } from './realm.svelte'
import { Recent } from './recent.svelte'
import { register } from './register'
import { Scheduled } from './scheduled.svelte'
import { Talk } from './talk.svelte'
import { Topics } from './topics.svelte'
import { Typing } from './typing.svelte'
import { Unread } from './unread.svelte'
import { OPEN_TO_WEB, registerVisitor, VisitLoop } from './visitor'
import { Visits } from './visits'
import { Searches } from './searches.svelte'
import { UsedEmoji } from './used-emoji.svelte'

/** So many talks stay loaded and current, so that going back to one shows it at once. */
const OPEN_TALKS = 12
/** Those of a visitor are fetched anew every minute, by a server that counts their requests. */
const VISITED_TALKS = 2
/** So often is looked whether something else is being read. */
const KEEP_MS = 5000

export class World {
    readonly api: Api
    /** Somebody without an account: they read what is open to the web, and there is nothing of their own. */
    readonly isVisitor: boolean
    readonly realm = new Realm()
    readonly messages: Messages
    readonly unread: Unread
    readonly topics: Topics
    readonly directs: Directs
    readonly recent: Recent
    readonly glimpses: Glimpses
    readonly typing: Typing
    readonly presence: Presence
    readonly outbox: Outbox
    readonly drafts: Drafts
    readonly scheduled: Scheduled
    readonly exports: Exports
    readonly files: Files
    readonly pins: Pins
    readonly reads: Reads
    readonly visits: Visits
    readonly searches: Searches
    readonly usedEmoji: UsedEmoji
    readonly acts: Acts
    readonly connection = new Connection()
    /** Told of every event after it was applied: for notifications. */
    onEvent: (event: ApiEvent) => void = () => {}
    onSignedOut: () => void = () => {}
    readonly #loop: EventLoop | VisitLoop
    readonly #talks = new Map<string, Talk>()
    readonly #lastRead: LastRead
    /** What was kept of each talk, in short. */
    readonly #kept = new Map<string, string>()
    #keeping: ReturnType<typeof setInterval> | undefined
    #stopWatching: () => void = () => {}
    #isOver = false

    constructor(api: Api, keep: Keep = browserKeep, lastRead = new LastRead(), isVisitor = false) {
        this.api = api
        this.isVisitor = isVisitor
        this.#lastRead = lastRead
        this.messages = new Messages(api)
        if (isVisitor) this.messages.within = OPEN_TO_WEB
        const { realm } = this
        this.unread = new Unread({
            get me() {
                return realm.me
            },
            isTopicMuted: (channelId, topic) => realm.isTopicMuted(channelId, topic),
            isSubscribed: (channelId) => realm.channels.get(channelId)?.isSubscribed ?? false,
        })
        this.topics = new Topics(api)
        this.directs = new Directs(api)
        this.recent = new Recent(api)
        this.glimpses = new Glimpses(api)
        this.typing = new Typing(api)
        this.presence = new Presence(api)
        this.outbox = new Outbox(api, keep)
        this.drafts = new Drafts(api, keep)
        this.scheduled = new Scheduled(api)
        this.exports = new Exports(api)
        this.files = new Files(api)
        this.pins = new Pins(api)
        this.visits = new Visits(keep)
        this.searches = new Searches(keep)
        this.usedEmoji = new UsedEmoji(keep)
        this.reads = new Reads(api, this.messages, this.unread, this.#context)
        this.acts = new Acts(api, this.messages)
        const handlers: LoopHandlers = {
            onEvents: (events) => this.#apply(events),
            onQueueLost: () => this.#registerAgain(),
            onOnline: () => this.#online(),
            onOffline: (error) => this.connection.offline(error),
            onSignedOut: () => this.#signedOut(),
        }
        this.#loop = isVisitor ? new VisitLoop(api, handlers, () => this.#newest) : new EventLoop(api, handlers)
        this.#connect()
    }

    get me(): Id {
        return this.realm.me
    }

    #connect(): void {
        this.api.onSignedOut = () => this.#signedOut()
        this.outbox.queueId = () => this.#loop.queueId
        this.outbox.isHere = (id) => this.messages.get(id) !== undefined
        this.outbox.isTold = (place) =>
            place.kind === 'direct' || (this.realm.channels.get(place.channelId)?.isSubscribed ?? false)
        this.outbox.bring = (id) => this.messages.bring(id)
        // What is kept is of whoever was signed in here.
        if (!this.isVisitor) this.messages.findKept = (key) => this.#lastRead.talk(key)
        this.messages.onFetched = (ids) => this.outbox.found(ids)
        this.presence.isTold = () => this.realm.settings.presence_enabled
        this.presence.isShown = () => !this.realm.value('realm_presence_disabled', false)
        this.drafts.isSynchronized = () => this.realm.settings.enable_drafts_synchronization
        this.typing.isAllowed = (place) =>
            place.kind === 'direct'
                ? this.realm.settings.send_private_typing_notifications
                : this.realm.settings.send_stream_typing_notifications
    }

    /** Load the state and begin to listen. */
    async begin(): Promise<Answer<InitialState>> {
        const answer = await this.#register()
        if (!answer.ok) return answer
        this.#load(answer.value)
        this.#start(queueOf(answer.value))
        this.connection.online()
        return answer
    }

    async #register(): Promise<Answer<InitialState>> {
        if (this.isVisitor) return registerVisitor(this.api)
        const answer = await register(this.api)
        // Who has signed out meanwhile left nothing here.
        if (answer.ok && !this.#isOver) void this.#lastRead.keepState(answer.value)
        return answer
    }

    /** Begin with what was known last, because nobody answers; as soon as somebody does, everything is asked for anew. */
    resume(state: InitialState, error: ApiError): void {
        this.api.belongTo(state.user_id)
        this.#load(state)
        this.#start(null)
        this.connection.offline(error)
    }

    #start(queue: Queue | null): void {
        this.#loop.start(queue)
        this.#stopWatching = watchWaking((isSure) => this.#wake(isSure))
        if (this.isVisitor) return
        this.outbox.load(this.me)
        this.presence.start()
        this.#keeping = setInterval(() => this.keepTalks(), KEEP_MS)
    }

    /** Keep what is being read for when there is no network, as far as it changed. */
    keepTalks(): void {
        for (const [key, talk] of this.#talks) {
            const { rows, place } = talk
            if (talk.state !== 'ready' || talk.error || !talk.atNewest || place.kind === 'search') continue
            const brief = `${rows.length} ${rows.at(-1)?.id} ${rows.filter((row) => row.isUnread).length}`
            if (this.#kept.get(key) === brief) continue
            this.#kept.set(key, brief)
            const messages = rows.map((row) => row.data)
            void this.#lastRead.keepTalk(this.me, key, messages)
        }
    }

    /** Stop listening; what is unsaved stays in the browser. */
    end(): void {
        this.#isOver = true
        clearInterval(this.#keeping)
        this.#stopWatching()
        this.#loop.stop()
        this.presence.stop()
        this.outbox.stop()
        this.reads.stop()
        this.drafts.stop()
        this.typing.ended()
        for (const talk of this.#talks.values()) talk.close()
        this.#talks.clear()
    }

    /** The talk of a place, loaded or being loaded. With `near` it is opened there, unless that message is there already. */
    talk(place: TalkPlace): Talk {
        const key = keyOf(place)
        const known = this.#talks.get(key)
        const left = this.#newest
        this.#talks.delete(key)
        const talk = known ?? new Talk(place, this.messages, this.#context)
        this.#talks.set(key, talk)
        talk.isLeft = false
        const { near } = place
        // After this turn: components ask for a talk while they compute, and state must not change then.
        if (left && left !== talk) {
            left.isLeft = true
            queueMicrotask(() => left.isLeft && left.trim())
        }
        if (!known) queueMicrotask(() => void talk.open(near))
        else if (near === undefined) queueMicrotask(() => void talk.revisit())
        else queueMicrotask(() => void this.#show(talk, near))
        // Who asks for a talk does not ask for the rows of all others.
        untrack(() => this.#closeOldest())
        return talk
    }

    async #show(talk: Talk, id: Id): Promise<void> {
        if (!talk.focus(id)) await talk.open(id)
    }

    /** The talk that is shown, and was asked for last. */
    get #newest(): Talk | undefined {
        return [...this.#talks.values()].at(-1)
    }

    get #context() {
        const { realm } = this
        return {
            get me() {
                return realm.me
            },
            isTopicMuted: (channelId: Id, topic: string) => realm.isTopicMuted(channelId, topic),
        }
    }

    #closeOldest(): void {
        for (const [key, talk] of this.#talks) {
            if (this.#talks.size <= (this.isVisitor ? VISITED_TALKS : OPEN_TALKS)) break
            talk.close()
            this.#talks.delete(key)
        }
    }

    // The loop

    #load(state: InitialState): void {
        this.realm.load(state)
        this.exports.forget()
        this.files.forget()
        this.pins.forget()
        this.pins.me = state.user_id
        this.acts.me = state.user_id
        this.visits.load(state.user_id)
        this.searches.load(state.user_id)
        this.usedEmoji.load(state.user_id)
        this.unread.load(state.unread_msgs)
        this.reads.reapply()
        this.directs.load(state)
        this.typing.load(state.user_id, {
            started: state.server_typing_started_wait_period_milliseconds,
            stopped: state.server_typing_stopped_wait_period_milliseconds,
            expiry: state.server_typing_started_expiry_period_milliseconds,
        })
        this.presence.load(state)
        this.drafts.load(state.user_id, state.drafts)
        this.scheduled.load(state.scheduled_messages)
        void this.connection.registered(state.service_version)
    }

    async #registerAgain(): Promise<Answer<Queue>> {
        const answer = await this.#register()
        if (!answer.ok) return answer
        if (answer.value.user_id !== this.me) this.#signedOut()
        const queue = queueOf(answer.value)
        if (this.#isOver) return { ok: true, value: queue }
        this.messages.reset()
        this.#load(answer.value)
        this.topics.reset()
        this.recent.reset()
        this.glimpses.reset()
        void this.#reloadTalks()
        this.#online()
        return { ok: true, value: queue }
    }

    async #reloadTalks(): Promise<void> {
        const talks = [...this.#talks.values()]
        await Promise.all(talks.map((talk) => talk.reload()))
        if (talks.every((talk) => talk.error === null)) this.outbox.reloaded()
    }

    #apply(events: ApiEvent[]): void {
        for (const event of events) {
            for (const part of this.#concerned(event)) part.apply(event)
            this.#follow(event)
            this.#tell(event)
        }
    }

    /** The parts that an event is for, in the order in which they hear of it. A type that is new in the API description has no line
     *  here, which the check of types refuses; one that a newer server sends to an old page is passed over. */
    #concerned(event: ApiEvent): readonly { apply(event: ApiEvent): void }[] {
        switch (event.type) {
            case 'message':
                return [
                    this.outbox,
                    this.messages,
                    this.unread,
                    this.topics,
                    this.directs,
                    this.recent,
                    this.glimpses,
                    this.typing,
                ]
            case 'update_message':
            case 'delete_message':
                return [this.messages, this.unread, this.topics, this.recent, this.glimpses, this.pins]
            case 'pin':
                return [this.pins]
            case 'update_message_flags':
                return [this.messages, this.unread, this.reads]
            case 'message_sender':
                return [this.messages, this.recent, this.glimpses]
            case 'reaction':
                return [this.messages, this.usedEmoji]
            case 'submessage':
                return [this.messages]
            case 'subscription':
                return [this.realm, this.unread, this.recent]
            case 'typing':
                return [this.typing]
            case 'presence':
                return [this.presence]
            case 'drafts':
                return [this.drafts]
            case 'scheduled_messages':
                return [this.scheduled]
            case 'realm_export':
            case 'realm_export_consent':
                return [this.exports]
            case 'alert_words':
            case 'channel_folder':
            case 'custom_profile_fields':
            case 'default_streams':
            case 'muted_users':
            case 'realm':
            case 'realm_domains':
            case 'realm_emoji':
            case 'realm_linkifiers':
            case 'realm_playgrounds':
            case 'realm_user':
            case 'realm_user_settings_defaults':
            case 'reminders':
            case 'saved_snippets':
            case 'stream':
            case 'user_group':
            case 'user_settings':
            case 'user_status':
            case 'user_topic':
                return [this.realm]
            case 'attachment':
                return [this.files]
            // Not shown here, or asked for when somebody looks at it.
            case 'device':
            case 'heartbeat':
            case 'invites_changed':
            case 'muted_topics':
            case 'realm_bot':
            case 'typing_edit_message':
                return []
            default:
                event satisfies never
                return []
        }
    }

    /** Who is told of events may fail; what we know is right all the same. */
    #tell(event: ApiEvent): void {
        try {
            this.onEvent(event)
        } catch (problem) {
            // oxlint-disable-next-line no-console -- whoever looks into it needs to see it
            console.error(problem)
        }
    }

    /** Messages that came to an open talk from elsewhere, or got a star, may not be loaded. */
    #follow(event: ApiEvent): void {
        for (const talk of this.#talks.values()) {
            const { place } = talk
            if (event.type === 'update_message') {
                if (isMove(event) && receives(place, event)) void talk.fetchMoved(idsOf(event))
            } else if (event.type === 'update_message_flags') {
                const isStar = event.op === 'add' && event.flag === 'starred'
                if (isStar && place.kind === 'starred') void talk.fetchMoved(idsOf(event))
            } else if (place.kind === 'feed' && changesFeed(event)) void talk.reload()
        }
    }

    #online(): void {
        const wasAway = this.connection.state === 'offline'
        this.connection.online()
        if (!wasAway) return
        void this.outbox.flush()
        void this.reads.flush()
        void this.drafts.flush()
        for (const talk of this.#talks.values()) if (talk.error) void talk.reload()
    }

    /** The network may be back, or somebody looks at the page again. Only the latter says that somebody is here. */
    #wake(isSure: boolean): void {
        if (!isSure && !this.isVisitor) this.presence.active()
        this.#loop.wake(isSure || this.connection.state === 'offline')
        if (isSure) void this.outbox.flush()
    }

    #signedOut(): void {
        if (this.#isOver) return
        this.end()
        this.onSignedOut()
    }
}

function queueOf(state: InitialState): Queue {
    return { id: state.queue_id, lastEventId: state.last_event_id }
}

/** Whether a talk shows what was moved. */
function receives(place: TalkPlace, event: EventOf<'update_message'>): boolean {
    if (place.kind !== 'topic' && place.kind !== 'channel') return place.kind === 'feed'
    if (place.channelId !== (event.new_stream_id ?? event.stream_id)) return false
    const topic = event.subject ?? event.orig_subject
    return place.kind === 'channel' || (topic !== undefined && isSameTopic(topic, place.topic))
}

/** Whether other channels or topics are in the feed now. */
function changesFeed(event: ApiEvent): boolean {
    if (event.type === 'user_topic') return true
    if (event.type !== 'subscription') return false
    if (event.op === 'update') return event.property === 'is_muted' || event.property === 'in_home_view'
    return event.op === 'add' || event.op === 'remove'
}
