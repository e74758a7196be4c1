/** Who is at this browser: nobody yet known, nobody, a visitor, or somebody with their world. Tabs tell each other who came and went. */
import { Api, type Answer, type ApiError, type Begun, type Params, type SecondStep } from './api'
import type { ServerSettings } from './api-types'
import { waitBefore } from './backoff'
import { browserKeep } from './keep'
import { LastRead } from './last-read'
import { Visits } from './visits'
import { World } from './world.svelte'

/** Whoever signs out waits no longer for what they wrote last: a text that is not saved stays in the browser. */
const SAVED_WITHIN_MS = 2000

export class Session {
    readonly api: Api
    /** looking: is there a session? signedOut: show the sign-in page. loading: the world is on its way. failed: nobody answers.
     *  visiting: somebody without an account reads what is open to the web. */
    state: 'looking' | 'signedOut' | 'visiting' | 'loading' | 'ready' | 'failed' = $state('looking')
    world: World | null = $state.raw(null)
    error: ApiError | null = $state.raw(null)
    /** For the sign-in page. */
    server: ServerSettings | null = $state.raw(null)
    readonly #lastRead = new LastRead()
    readonly #tabs: BroadcastChannel | null
    #visiting: Promise<ApiError | null> | null = null
    #again: ReturnType<typeof setTimeout> | null = null

    constructor(api: Api = new Api()) {
        this.api = api
        this.#tabs = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('tertulia')
        this.#tabs?.addEventListener('message', (message) => {
            if (message.data === 'signed-out') this.#leave()
            else if (message.data === 'signed-in' && this.isNobody) void this.start()
        })
    }

    /** Nobody is signed in here. */
    get isNobody(): boolean {
        return this.state === 'signedOut' || this.state === 'visiting'
    }

    /** Find out who is here, and load their world. Tries again by itself while nobody answers. */
    async start(): Promise<void> {
        if (this.#again) clearTimeout(this.#again)
        const found = await this.api.resume()
        if (this.state === 'loading' || this.state === 'ready') return // asked twice, and the first was faster
        if (found.ok) await this.#welcome(found)
        else if (found.error.kind === 'signedOut') await this.#receive()
        else await this.#showLast(found.error)
    }

    /** Nobody is signed in: they read, where something is open to the web, or are at the door. */
    async #receive(): Promise<void> {
        if (!(await this.#askSettings())) return
        this.#forget() // of whoever was here: their session ended elsewhere
        if (this.server?.realm_web_public_access_enabled) await this.visit()
        if (this.state === 'looking' || this.state === 'failed') this.state = 'signedOut'
    }

    /** Read what is open to the web; where that fails, everything stays as it is, and the answer is why. */
    visit(): Promise<ApiError | null> {
        this.#visiting ??= this.#visit().finally(() => (this.#visiting = null))
        return this.#visiting
    }

    async #visit(): Promise<ApiError | null> {
        const world = new World(this.api, browserKeep, this.#lastRead, true)
        world.onSignedOut = () => this.#leave()
        const answer = await world.begin()
        // Somebody may have signed in meanwhile.
        if (!answer.ok || this.state === 'loading' || this.state === 'ready') {
            world.end()
            return answer.ok ? null : answer.error
        }
        this.#endWorld()
        this.world = world
        this.state = 'visiting'
        return null
    }

    /** The visitor has an account: the place in the address bar is where they will be. */
    stopVisiting(): void {
        this.#endWorld()
        this.state = 'signedOut'
    }

    /** Nobody answers: what was read last is shown, if it is known. */
    async #showLast(error: ApiError): Promise<void> {
        const known = error.kind === 'offline' ? await this.#lastRead.state() : null
        if (this.state === 'loading' || this.state === 'ready') return
        if (!known) return this.#fail(error)
        const world = this.#newWorld()
        world.resume(known, error)
        this.world = world
        this.state = 'ready'
    }

    #newWorld(): World {
        const world = new World(this.api, browserKeep, this.#lastRead)
        world.onSignedOut = () => this.#leave()
        return world
    }

    async signIn(username: string, password: string, step?: SecondStep): Promise<Answer<object>> {
        return this.#welcome(await this.api.signIn(username, password, step))
    }

    async signInByPasskey(passkey: object): Promise<Answer<object>> {
        return this.#welcome(await this.api.signInByPasskey(passkey))
    }

    /** A new account by the key of an invitation, signed in at once. */
    async signUp(key: string, fullName: string, password: string): Promise<Answer<object>> {
        return this.#welcome(await this.api.signUp(key, fullName, password))
    }

    /** A new organization, by the key of its link; its owner is signed in at once. */
    async begin(key: string, chosen: Params): Promise<Answer<Begun>> {
        const answer = await this.api.begin(key, chosen)
        await this.#welcome(answer)
        return answer
    }

    async #welcome(answer: Answer<object>): Promise<Answer<object>> {
        if (!answer.ok) return answer
        this.#tabs?.postMessage('signed-in')
        await this.#enter()
        return answer
    }

    async signOut(): Promise<Answer<object>> {
        const isSaved = this.world?.drafts.flush()
        await Promise.race([isSaved, new Promise((resolve) => setTimeout(resolve, SAVED_WITHIN_MS))])
        const answer = await this.api.signOut()
        if (answer.ok || answer.error.kind === 'signedOut') {
            this.#tabs?.postMessage('signed-out')
            this.#leave()
        }
        return answer
    }

    async #enter(): Promise<void> {
        this.state = 'loading'
        this.#endWorld()
        const world = this.#newWorld()
        const answer = await world.begin()
        if (answer.ok) {
            this.world = world
            this.error = null
            this.state = 'ready'
        } else if (answer.error.kind === 'signedOut') await this.#showDoor()
        else this.#fail(answer.error)
    }

    async #showDoor(): Promise<void> {
        if (await this.#askSettings()) this.state = 'signedOut'
    }

    /** What the organization says of itself to everybody; false: nobody answers. */
    async #askSettings(): Promise<boolean> {
        const answer = await this.api.serverSettings()
        // A server of many organizations answers at its own address too, and names none: nobody signs in there.
        if (answer.ok) this.server = 'realm_name' in answer.value ? answer.value : null
        else if (answer.error.kind === 'offline') {
            this.#fail(answer.error)
            return false
        }
        return true
    }

    #fail(error: ApiError): void {
        this.error = error
        this.state = 'failed'
        this.#again = setTimeout(() => void this.start(), waitBefore(3, error.retryAfter))
    }

    #endWorld(): void {
        this.world?.end()
        this.world = null
    }

    #leave(): void {
        this.#endWorld()
        this.api.forget()
        this.#forget()
        void this.#showDoor()
    }

    /** What the next one at this browser could read of them. */
    #forget(): void {
        void this.#lastRead.forget()
        Visits.forget()
    }
}
