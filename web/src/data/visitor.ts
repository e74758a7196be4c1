/** Somebody without an account, who reads what is open to the web. There is no queue for them: the talk that they look at is asked
 *  for what is new every few seconds, and once a minute everything that is shown is asked for anew, because what was changed or
 *  deleted nobody tells. A page that nobody looks at asks for nothing. */
import type { Answer, Api } from './api'
import type { ApiEvent, ApiMessages, InitialState, NarrowTerm } from './api-types'
import { waitBefore } from './backoff'
import type { LoopHandlers, Queue } from './events'
import { narrowOf } from './place'
import { CAPABILITIES } from './register'
import type { Talk } from './talk.svelte'

/** Without this term the server tells nothing to somebody without an account. */
export const OPEN_TO_WEB: readonly NarrowTerm[] = [{ operator: 'channels', operand: 'web-public' }]
/** Nothing of people: what they wrote says who they are. */
const ASKED_FOR = ['realm', 'realm_emoji', 'realm_playgrounds', 'subscription', 'user_settings']
/** A server takes 100 requests a minute from one network: ten people behind one address read in peace. */
const LOOK_MS = 10_000
const ANEW_MS = 60_000
const MOST = 100

export async function registerVisitor(api: Api): Promise<Answer<InitialState>> {
    const answer = await api.post<InitialState>('register', {
        client_gravatar: false,
        fetch_event_types: ASKED_FOR,
        client_capabilities: CAPABILITIES,
    })
    return answer.ok ? { ok: true, value: { ...NOTHING, ...answer.value } } : answer
}

/** What nobody has who has no account. */
const NOTHING = {
    last_event_id: -1,
    user_id: 0,
    realm_users: [],
    realm_non_active_users: [],
    cross_realm_bots: [],
    realm_user_groups: [],
    realm_linkifiers: [],
    channel_folders: [],
    user_topics: [],
    muted_users: [],
    alert_words: [],
    unread_msgs: { count: 0, pms: [], streams: [], huddles: [], mentions: [], old_unreads_missing: false },
    recent_private_conversations: [],
    drafts: [],
    saved_snippets: [],
    scheduled_messages: [],
    reminders: [],
    user_status: {},
    presences: {},
    presence_last_update_id: -1,
    server_timestamp: 0,
    custom_profile_fields: [],
} satisfies Partial<InitialState>

/** What it would take an event queue to tell; in its place in the world. */
export class VisitLoop {
    readonly queueId = null
    readonly #api: Api
    readonly #handlers: LoopHandlers
    readonly #shown: () => Talk | undefined
    #timer: ReturnType<typeof setTimeout> | undefined
    #stopped = true
    #failures = 0
    #anewAt = 0
    #isAsking = false
    /** Until then the server wants to be left alone. */
    #notBefore = 0

    constructor(api: Api, handlers: LoopHandlers, shown: () => Talk | undefined) {
        this.#api = api
        this.#handlers = handlers
        this.#shown = shown
    }

    start(_queue: Queue | null): void {
        this.#stopped = false
        this.#anewAt = Date.now() + ANEW_MS
        this.#soon(LOOK_MS)
    }

    stop(): void {
        this.#stopped = true
        clearTimeout(this.#timer)
    }

    /** Somebody looks again, or the network is back. */
    wake(): void {
        if (!this.#stopped) this.#soon(Math.max(0, this.#notBefore - Date.now()))
    }

    #soon(milliseconds: number): void {
        clearTimeout(this.#timer)
        this.#timer = setTimeout(() => void this.#turn(), milliseconds)
    }

    async #turn(): Promise<void> {
        // Whoever looks again wakes us.
        if (this.#isAsking || document.visibilityState !== 'visible') return
        this.#isAsking = true
        let answer: Answer<unknown>
        try {
            answer = Date.now() < this.#anewAt ? await this.#look() : await this.#beginAnew()
        } catch {
            answer = { ok: true, value: null } // a mistake of ours: the page goes on
        } finally {
            this.#isAsking = false
        }
        if (this.#stopped) return
        if (answer.ok) {
            this.#failures = 0
            this.#handlers.onOnline()
            this.#soon(LOOK_MS)
        } else if (answer.error.kind === 'signedOut') {
            this.stop()
            this.#handlers.onSignedOut()
        } else {
            this.#failures += 1
            if (this.#failures > 1) this.#handlers.onOffline(answer.error)
            const wait = Math.max(LOOK_MS, waitBefore(this.#failures, answer.error.retryAfter))
            if (answer.error.retryAfter) this.#notBefore = Date.now() + wait
            this.#soon(wait)
        }
    }

    async #beginAnew(): Promise<Answer<unknown>> {
        const answer = await this.#handlers.onQueueLost()
        if (answer.ok) this.#anewAt = Date.now() + ANEW_MS
        return answer
    }

    /** What was said in the talk since its last message. Where that is too much for one answer, it is loaded anew. */
    async #look(): Promise<Answer<unknown>> {
        const talk = this.#shown()
        const last = talk?.rows.at(-1)
        if (!talk || !last || !talk.atNewest || talk.isOpening) return { ok: true, value: null }
        const answer = await this.#api.get<ApiMessages>('messages', {
            narrow: [...OPEN_TO_WEB, ...narrowOf(talk.place)],
            anchor: last.id,
            num_before: 0,
            num_after: MOST,
            include_anchor: false,
            client_gravatar: false,
            allow_empty_topic_name: true,
        })
        if (this.#stopped) return answer
        // The place is no longer open: everything of it goes now, and not with the next minute.
        if (!answer.ok) return answer.error.kind === 'refused' ? this.#beginAnew() : answer
        if (!answer.value.found_newest) return this.#beginAnew()
        const events = answer.value.messages.map(
            (message): ApiEvent => ({ id: -1, type: 'message', message, flags: message.flags }) as ApiEvent,
        )
        this.#handlers.onEvents(events)
        return answer
    }
}
