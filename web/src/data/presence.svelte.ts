/** Who is here: by what the server was told last, and the time since. Tells it of us as well, as long as we are allowed to. */
import { SvelteMap } from 'svelte/reactivity'
import type { Api } from './api'
import type { ApiEvent, ApiPresence, Id, InitialState } from './api-types'

export type Here = 'active' | 'idle' | 'offline'

export class Presence {
    readonly #api: Api
    readonly #byUser = new SvelteMap<Id, ApiPresence>()
    #lastUpdateId = -1
    #offlineAfter = 200
    #interval = 60
    #timer: ReturnType<typeof setInterval> | null = null
    /** Server time minus ours, in seconds. */
    #skew = 0
    /** Grows with time, so that who is shown as here does not stay so. */
    #now = $state(Date.now() / 1000)
    #lastActive = Date.now()
    isTold: () => boolean = () => true
    /** Whether the organization lets anybody be seen. */
    isShown: () => boolean = () => true

    constructor(api: Api) {
        this.#api = api
    }

    load(state: InitialState): void {
        this.#byUser.clear()
        for (const [id, presence] of Object.entries(state.presences)) this.#byUser.set(Number(id), presence)
        this.#lastUpdateId = state.presence_last_update_id
        this.#skew = state.server_timestamp - Date.now() / 1000
        this.#offlineAfter = state.server_presence_offline_threshold_seconds ?? 200
        this.#interval = state.server_presence_ping_interval_seconds ?? 60
    }

    of(userId: Id): Here {
        const presence = this.#shownOf(userId)
        const oldest = this.#now + this.#skew - this.#offlineAfter
        if ((presence?.active_timestamp ?? 0) > oldest) return 'active'
        return (presence?.idle_timestamp ?? 0) > oldest ? 'idle' : 'offline'
    }

    /** Seconds; null if never. */
    lastSeen(userId: Id): number | null {
        const presence = this.#shownOf(userId)
        return Math.max(presence?.active_timestamp ?? 0, presence?.idle_timestamp ?? 0) || null
    }

    #shownOf(userId: Id): ApiPresence | undefined {
        return this.isShown() ? this.#byUser.get(userId) : undefined
    }

    apply(event: ApiEvent): void {
        if (event.type !== 'presence') return
        for (const [id, presence] of Object.entries(event.presences ?? {})) this.#byUser.set(Number(id), presence)
    }

    /** Somebody pressed a key, or looks at the page again: told at once if they were away. */
    active(): void {
        const wasAway = !this.#isActive
        this.#lastActive = Date.now()
        if (wasAway && this.#timer !== null) void this.ping()
    }

    get #isActive(): boolean {
        return Date.now() - this.#lastActive < 5 * this.#interval * 1000
    }

    start(): void {
        this.stop()
        void this.ping()
        this.#timer = setInterval(() => void this.ping(), this.#interval * 1000)
    }

    stop(): void {
        if (this.#timer) clearInterval(this.#timer)
        this.#timer = null
    }

    async ping(): Promise<void> {
        this.#now = Date.now() / 1000
        const answer = await this.#api.post<{
            presences?: Record<string, ApiPresence>
            presence_last_update_id?: number
            server_timestamp?: number
        }>('users/me/presence', {
            status: this.#isActive && this.isTold() ? 'active' : 'idle',
            ping_only: false,
            last_update_id: this.#lastUpdateId,
            slim_presence: true,
        })
        if (!answer.ok) return
        const { presences, presence_last_update_id, server_timestamp } = answer.value
        for (const [id, presence] of Object.entries(presences ?? {})) this.#byUser.set(Number(id), presence)
        this.#lastUpdateId = presence_last_update_id ?? this.#lastUpdateId
        if (server_timestamp) this.#skew = server_timestamp - Date.now() / 1000
    }
}
