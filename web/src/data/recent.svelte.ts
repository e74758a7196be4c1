/** The conversations in which something was said last, with who spoke: fetched when somebody looks, then kept by events. */
import { SvelteMap } from 'svelte/reactivity'
import type { Api } from './api'
import type { ApiEvent, ApiMessages, ApiNewMessage, Id } from './api-types'
import { conversationOf } from './message.svelte'
import { isMove } from './messages.svelte'
import { keyOf, type TalkPlace } from './place'

export interface RecentTalk {
    place: TalkPlace
    newest: Id
    /** Seconds. */
    timestamp: number
    /** Who wrote lately, the last one first; each once. */
    senders: readonly Id[]
    /** I wrote in it, as far back as was looked. */
    isMine: boolean
}
/** Conversations among so many of the newest messages. */
const LOOK_AT = 1000
const MOST_SENDERS = 5

export class Recent {
    readonly #api: Api
    readonly #byKey = new SvelteMap<string, RecentTalk>()
    #me: Id = 0
    #turn = 0
    /** Messages that came since the list was asked for. */
    #meanwhile: ApiNewMessage[] = []
    state: 'unknown' | 'loading' | 'ready' | 'failed' = $state('unknown')
    readonly all: readonly RecentTalk[] = $derived([...this.#byKey.values()].sort((a, b) => b.newest - a.newest))

    constructor(api: Api) {
        this.#api = api
    }

    /** Somebody looks: the first time, and after what only the server can tell, it is asked for. */
    async look(me: Id): Promise<void> {
        this.#me = me
        if (this.state === 'loading' || this.state === 'ready') return
        this.state = 'loading'
        this.#meanwhile = []
        const turn = ++this.#turn
        const answer = await this.#api.get<ApiMessages>('messages', {
            narrow: [],
            anchor: 'newest',
            num_before: LOOK_AT,
            num_after: 0,
            apply_markdown: false,
            allow_empty_topic_name: true,
        })
        // What came meanwhile made this answer old, and another is on its way.
        if (turn !== this.#turn) return
        if (!answer.ok) {
            this.state = 'failed'
            return
        }
        this.#byKey.clear()
        for (const message of [...answer.value.messages, ...this.#meanwhile]) this.#note(message)
        this.state = 'ready'
    }

    /** All of it may be old: it is asked for when somebody looks, who sees the state change. What is shown stays until then. */
    reset(): void {
        this.#turn += 1
        this.state = 'unknown'
    }

    apply(event: ApiEvent): void {
        if (this.state === 'unknown' && this.#byKey.size === 0) return
        switch (event.type) {
            case 'message':
                if (this.state === 'loading') this.#meanwhile.push(event.message)
                this.#note(event.message)
                break
            case 'update_message':
                if (isMove(event)) this.reset()
                break
            case 'delete_message':
            case 'message_sender':
                this.reset()
                break
            case 'subscription':
                if (event.op === 'add' || event.op === 'remove') this.reset()
        }
    }

    #note(message: ApiNewMessage): void {
        const place = conversationOf(message, this.#me)
        const key = keyOf(place)
        const old = this.#byKey.get(key)
        if (old && old.newest >= message.id) return
        const senders = [message.sender_id, ...(old?.senders ?? []).filter((id) => id !== message.sender_id)]
        this.#byKey.set(key, {
            place: old?.place ?? place,
            newest: message.id,
            timestamp: message.timestamp,
            senders: senders.slice(0, MOST_SENDERS),
            isMine: (old?.isMine ?? false) || message.sender_id === this.#me,
        })
    }
}
