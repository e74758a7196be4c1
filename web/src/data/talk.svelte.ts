/** A window over the messages of a place: rows in order, without a gap, that grows at both ends on demand.
 *
 *  `rows` is one unbroken stretch of the place's messages. It grows downwards by events only while it reaches the newest one
 *  (`atNewest`); messages that arrive during a fetch which finds the newest are put behind what it found. While the rows are
 *  being fetched anew, what happens is shown in the old ones and kept for the new ones as well. Very many rows lose the ends
 *  that are far from what is being read: those load again when they are needed, and a page that is open for days stays small. */
import type { ApiError } from './api'
import type { Id } from './api-types'
import { waitBefore } from './backoff'
import { topicKey, keyOf, narrowOf, type TalkPlace } from './place'
import type { Message } from './message.svelte'
import type { Fetched, FetchWindow, Listener, Messages } from './messages.svelte'

const FIRST_BEFORE = 60
const FIRST_AFTER = 40
const MORE = 100
/** More than this that were moved here are not asked for one by one. */
const MOST_MOVED = 100
const MOST_ROWS = 600
/** Of a talk that nobody looks at. */
const MOST_ROWS_LEFT = 150

type At = Id | 'first_unread' | 'oldest' | 'newest'

export interface TalkContext {
    readonly me: Id
    isTopicMuted(channelId: Id, topic: string): boolean
}

export class Talk implements Listener {
    readonly place: TalkPlace
    readonly key: string
    /** Ascending. Replaced as a whole when it changes. */
    rows: readonly Message[] = $state.raw([])
    state: 'loading' | 'ready' | 'failed' = $state('loading')
    error: ApiError | null = $state.raw(null)
    atOldest = $state(false)
    atNewest = $state(false)
    loadingOlder = $state(false)
    loadingNewer = $state(false)
    /** The first unread message when the window was loaded: where the divider is. */
    firstUnreadId: Id | null = $state(null)
    /** Counts how often the window was opened anew: the time to place the scroll. */
    opened = $state(0)
    /** The message the window was opened at: to be scrolled to. Null: the end. */
    focusId: Id | null = $state(null)
    /** The message being read, or the end whatever it is, told by who shows it: a new registration loads around it, and what
     *  is far from it goes. */
    readingId: Id | 'newest' | null = null
    /** The rows are being fetched anew. */
    isOpening = false
    /** Another one is shown: enough stays to come back to. */
    isLeft = false
    /** Where this talk went, if somebody moved all of it away. Whoever goes there sets it to null. */
    movedTo: TalkPlace | null = $state.raw(null)

    readonly #messages: Messages
    readonly #context: TalkContext
    readonly #stop: () => void
    /** What arrived while the newest messages were being fetched. */
    #waiting: Message[] = []
    /** What came from other places while the rows were being fetched. */
    #moved: Id[] = []
    /** They reached the newest message when they could not be fetched anew. */
    #lostNewest = false
    #again: ReturnType<typeof setTimeout> | undefined
    #turn = 0

    constructor(place: TalkPlace, messages: Messages, context: TalkContext) {
        this.place = place
        this.key = keyOf(place)
        this.#messages = messages
        this.#context = context
        this.#stop = messages.listen(this)
    }

    close(): void {
        this.#turn += 1
        clearTimeout(this.#again)
        this.#stop()
    }

    // Loading

    /** Load around a message, the first unread one, or an end. */
    async open(at: At = this.place.near ?? this.#beginning): Promise<void> {
        const turn = ++this.#turn
        clearTimeout(this.#again)
        if (this.rows.length === 0) this.state = 'loading'
        this.#waiting = []
        this.#moved = []
        this.isOpening = true
        const answer = await this.#fetch({ anchor: at, before: FIRST_BEFORE, after: FIRST_AFTER })
        if (turn !== this.#turn) return
        const isAway = !answer.ok && answer.error.kind === 'offline' && this.rows.length === 0
        const kept = isAway ? await this.#messages.kept(this.key) : []
        if (turn !== this.#turn) return
        this.isOpening = false
        if (kept.length) this.#replace({ messages: kept, foundOldest: false, foundNewest: false, anchor: 0 }, 'newest')
        if (answer.ok) this.#replace(answer.value, at)
        else this.#fail(answer.error)
    }

    /** Without the new rows the old ones may lack something: they no longer reach the newest, and are fetched again soon. */
    #fail(error: ApiError): void {
        this.error = error
        // What is out of reach now goes from the screen.
        if (error.kind === 'refused') this.rows = []
        if (this.rows.length === 0) {
            this.state = 'failed'
            return
        }
        this.#lostNewest ||= this.atNewest
        this.atNewest = false
        if (error.kind === 'signedOut') return
        this.#again = setTimeout(() => void this.reload(), waitBefore(3, error.retryAfter))
    }

    /** After a new registration: the same stretch around what is being read, from the server again. */
    reload(): Promise<void> {
        const hadNewest = this.atNewest || this.#lostNewest
        return this.open(this.readingId ?? (hadNewest ? 'newest' : (this.focusId ?? 'first_unread')))
    }

    /** What was searched for is shown from its newest, read or not. */
    get #beginning(): At {
        return this.place.kind === 'search' ? 'newest' : 'first_unread'
    }

    /** Somebody comes back: to the first unread message, or else the end. */
    async revisit(): Promise<void> {
        if (this.isOpening) return
        const [first] = this.rows
        const mayHaveOlder = !this.atOldest && (first?.isUnread ?? true)
        if (this.state !== 'ready' || !this.atNewest || mayHaveOlder) {
            await this.open(this.#beginning)
            return
        }
        this.firstUnreadId = this.rows.find((row) => row.isUnread)?.id ?? null
        this.focusId = this.firstUnreadId
        this.opened += 1
    }

    /** A message that is among the rows is to be scrolled to, also if it was before; false: it is not. */
    focus(id: Id): boolean {
        if (!this.rows.some((row) => row.id === id)) return false
        this.focusId = id
        this.opened += 1
        return true
    }

    async loadOlder(): Promise<void> {
        const first = this.rows[0]
        if (this.atOldest || this.loadingOlder || !first || this.state !== 'ready' || this.isOpening) return
        const turn = this.#turn
        this.loadingOlder = true
        const answer = await this.#fetch({ anchor: first.id, before: MORE, after: 0, includeAnchor: false })
        this.loadingOlder = false
        // Behind other rows than these it would leave a gap.
        if (turn !== this.#turn || this.rows[0] !== first) return
        this.error = answer.ok ? null : answer.error
        if (!answer.ok) return
        this.atOldest = answer.value.foundOldest
        this.#merge(answer.value.messages)
    }

    async loadNewer(): Promise<void> {
        const last = this.rows.at(-1)
        if (this.atNewest || this.loadingNewer || !last || this.state !== 'ready' || this.isOpening) return
        const turn = this.#turn
        this.loadingNewer = true
        this.#waiting = []
        const answer = await this.#fetch({ anchor: last.id, before: 0, after: MORE, includeAnchor: false })
        this.loadingNewer = false
        if (turn !== this.#turn || this.rows.at(-1) !== last) return
        this.error = answer.ok ? null : answer.error
        if (!answer.ok) return
        this.atNewest = answer.value.foundNewest
        this.#merge([...answer.value.messages, ...(this.atNewest ? this.#waiting : [])])
        this.#waiting = []
    }

    /** Let go of what is far from the message being read, if there are more rows than these. */
    trim(most = this.isLeft ? MOST_ROWS_LEFT : MOST_ROWS): void {
        const { rows } = this
        if (rows.length <= most) return
        const reading = this.readingId ?? this.focusId
        const at = typeof reading === 'number' ? rows.findLastIndex((row) => row.id <= reading) : rows.length - 1
        const part = Math.floor(most / 3)
        const [from, to] = [Math.max(0, at - part), Math.max(0, at) + part + 1]
        if (from > 0) this.atOldest = false
        if (to < rows.length) this.atNewest = false
        this.rows = rows.slice(from, to)
    }

    #fetch(window: Omit<FetchWindow, 'narrow'>) {
        return this.#messages.fetch({ narrow: narrowOf(this.place), ...window })
    }

    #replace(found: Fetched, at: At): void {
        this.atOldest = found.foundOldest
        this.atNewest = found.foundNewest
        this.rows = []
        this.#merge([...found.messages, ...(this.atNewest ? this.#waiting : [])])
        this.#waiting = []
        this.error = null
        this.#lostNewest = false
        this.state = 'ready'
        this.firstUnreadId = this.#firstUnreadAt(at)
        this.focusId = this.#placeOf(at)
        this.opened += 1
        void this.fetchMoved(this.#moved)
    }

    /** Rows that begin amid unread messages do not tell where those begin: what was known of that holds. And whoever asks
     *  for the line finds it where it was. */
    #firstUnreadAt(at: At): Id | null {
        const { firstUnreadId: known } = this
        const [first] = this.rows
        const isAmid = at !== 'first_unread' && first !== undefined && first.isUnread && !this.atOldest
        if (known !== null && (at === known || (isAmid && known < first.id))) return known
        return this.rows.find((row) => row.isUnread)?.id ?? null
    }

    /** The row to be scrolled to; null: the end. */
    #placeOf(at: At): Id | null {
        if (at === 'newest') return null
        if (at === 'first_unread') return this.firstUnreadId
        const found = at === 'oldest' ? this.rows[0] : this.rows.find((row) => row.id >= at)
        return (found ?? this.rows.at(-1))?.id ?? null
    }

    /** Put these among the rows: each once, in order, and only what belongs here. */
    #merge(found: readonly Message[]): void {
        const { rows } = this
        const last = rows.at(-1)
        // Most of the time something arrives at the end: that must not look at every row.
        const areBehind = !last || found.every((message) => message.id > last.id)
        const known = areBehind ? null : new Set(rows.map((row) => row.id))
        const fresh = found.filter((message) => !known?.has(message.id) && this.#belongs(message) !== false)
        if (fresh.length === 0) return
        this.movedTo = null
        fresh.sort((a, b) => a.id - b.id)
        const once = unique(fresh)
        this.rows = areBehind ? [...rows, ...once] : [...rows, ...once].sort((a, b) => a.id - b.id)
        this.trim()
    }

    // What happens to messages

    arrived(messages: Message[]): void {
        const ours = messages.filter((message) => this.#belongs(message) === true)
        if (ours.length === 0) return
        if (this.isOpening || this.loadingNewer) this.#waiting.push(...ours)
        if (this.state === 'ready' && this.atNewest) this.#merge(ours)
    }

    removed(ids: ReadonlySet<Id>): void {
        if (this.rows.some((row) => ids.has(row.id))) this.rows = this.rows.filter((row) => !ids.has(row.id))
        this.#waiting = this.#waiting.filter((row) => !ids.has(row.id))
    }

    changed(ids: readonly Id[], isMove: boolean): void {
        this.#leave(ids)
        if (this.place.kind === 'search' || this.state !== 'ready') return
        // Bars between rows are laid out by the rows: those that stay but were moved are new rows.
        if (isMove && this.rows.some((row) => ids.includes(row.id))) this.rows = [...this.rows]
        this.#takeIn(ids)
    }

    /** Those among them that are loaded, belong here and are not shown yet. */
    #takeIn(ids: readonly Id[]): void {
        const known = ids.filter((id) => this.#isWithin(id)).flatMap((id) => this.#messages.get(id) ?? [])
        this.#merge(known.filter((message) => this.#belongs(message) === true))
    }

    /** Messages that came to this place from another; some were never loaded. */
    async fetchMoved(ids: readonly Id[]): Promise<void> {
        if (this.isOpening) this.#moved.push(...ids)
        if (this.state !== 'ready') return
        this.#takeIn(ids)
        const missing = ids.filter((id) => this.#isWithin(id) && !this.#messages.get(id))
        if (missing.length === 0 || this.isOpening) return
        if (missing.length > MOST_MOVED) return this.reload()
        const turn = this.#turn
        const answer = await this.#messages.fetchIds(missing)
        if (turn !== this.#turn) return
        if (!answer.ok) return this.reload()
        this.#merge(answer.value.filter((message) => this.#isWithin(message.id) && this.#belongs(message) === true))
    }

    #leave(ids: readonly Id[]): void {
        const set = new Set(ids)
        const leaving = this.rows.filter((row) => set.has(row.id) && this.#belongs(row) === false)
        if (leaving.length === 0) return
        const first = leaving[0]
        if (leaving.length === this.rows.length && first && this.place.kind === 'topic') {
            this.movedTo = first.conversation(this.#context.me)
        }
        const gone = new Set(leaving.map((row) => row.id))
        // Where starred messages are read, one that loses its star stays until the place is opened again.
        if (this.place.kind !== 'starred') this.rows = this.rows.filter((row) => !gone.has(row.id))
    }

    /** Whether a message with this number is in the stretch that we have. */
    #isWithin(id: Id): boolean {
        const [first, last] = [this.rows[0], this.rows.at(-1)]
        if (!first || !last) return this.atOldest && this.atNewest
        return (id > first.id || this.atOldest) && (id < last.id || this.atNewest)
    }

    /** Whether a message belongs to this place; null where only the server can say. */
    #belongs(message: Message): boolean | null {
        return belongs(this.place, message, this.#context)
    }
}

function unique(rows: Message[]): Message[] {
    return rows.filter((row, at) => row.id !== rows[at - 1]?.id)
}

export function belongs(place: TalkPlace, message: Message, context: TalkContext): boolean | null {
    const { data } = message
    switch (place.kind) {
        case 'feed':
            return data.type === 'private' || !context.isTopicMuted(data.stream_id, data.subject)
        case 'channel':
            return data.type === 'stream' && data.stream_id === place.channelId
        case 'topic':
            return (
                data.type === 'stream' &&
                topicKey(data.stream_id, data.subject) === topicKey(place.channelId, place.topic)
            )
        case 'direct':
            return data.type === 'private' && keyOf(message.conversation(context.me)) === keyOf(place)
        case 'directs':
            return data.type === 'private'
        case 'mentioned':
            return message.isMentioned
        case 'starred':
            return message.isStarred
        case 'search':
            return null
    }
}
