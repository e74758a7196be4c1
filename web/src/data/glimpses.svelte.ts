/** What single messages say, for lines of lists that are not talks: asked for when a line comes into view, several at once, and
 *  kept current by events. */
import { SvelteMap } from 'svelte/reactivity'
import type { Api } from './api'
import type { ApiEvent, ApiMessages, ApiNewMessage, Id } from './api-types'
import { idsOf } from './messages.svelte'

export interface Glimpse {
    senderId: Id
    html: string
    /** Seconds. */
    timestamp: number
}
/** Lines that come into view together are asked for together. */
const TOGETHER_MS = 30
const TRY_AGAIN_MS = 5000
const MOST_AT_ONCE = 100
/** So many are remembered; the longest known go first. */
const MOST = 500

export class Glimpses {
    readonly #api: Api
    readonly #known = new SvelteMap<Id, Glimpse>()
    readonly #wanted = new Set<Id>()
    readonly #asked = new Set<Id>()
    #isWaiting = false
    /** Grows when events were missed: whoever shows a message wants it anew then. */
    turn = $state(0)

    constructor(api: Api) {
        this.#api = api
    }

    /** Undefined until the server has told it, or if it is out of reach. */
    of(id: Id): Glimpse | undefined {
        return this.#known.get(id)
    }

    /** A line shows this message now. */
    want(id: Id): void {
        if (this.#known.has(id) || this.#asked.has(id)) return
        this.#wanted.add(id)
        this.#later(TOGETHER_MS)
    }

    /** Events were missed: whatever is shown is asked for again. */
    reset(): void {
        this.#known.clear()
        this.#asked.clear()
        this.turn += 1
    }

    apply(event: ApiEvent): void {
        switch (event.type) {
            case 'message':
                this.#note(event.message)
                break
            case 'update_message': {
                const old = this.#known.get(event.message_id)
                const { rendered_content: html } = event
                if (old && html !== undefined) this.#known.set(event.message_id, { ...old, html })
                break
            }
            case 'message_sender':
                for (const id of idsOf(event)) {
                    const old = this.#known.get(id)
                    if (old) this.#known.set(id, { ...old, senderId: event.sender_id })
                }
                break
            case 'delete_message':
                for (const id of idsOf(event)) this.#known.delete(id)
        }
    }

    async #ask(): Promise<void> {
        this.#isWaiting = false
        const ids = [...this.#wanted].slice(0, MOST_AT_ONCE)
        for (const id of ids) {
            this.#wanted.delete(id)
            this.#asked.add(id)
        }
        if (this.#wanted.size) this.#later(TOGETHER_MS)
        const answer = await this.#api.get<ApiMessages>('messages', {
            message_ids: ids,
            apply_markdown: true,
            allow_empty_topic_name: true,
        })
        for (const id of ids) this.#asked.delete(id)
        if (answer.ok) for (const message of answer.value.messages) this.#note(message)
        else if (answer.error.kind !== 'refused') {
            for (const id of ids) this.#wanted.add(id)
            this.#later(TRY_AGAIN_MS)
        }
    }

    #later(milliseconds: number): void {
        if (this.#isWaiting) return
        this.#isWaiting = true
        setTimeout(() => void this.#ask(), milliseconds)
    }

    #note({ id, sender_id, content, timestamp }: ApiNewMessage): void {
        this.#known.set(id, { senderId: sender_id, html: content, timestamp })
        for (const old of this.#known.keys()) {
            if (this.#known.size <= MOST) break
            this.#known.delete(old)
        }
    }
}
