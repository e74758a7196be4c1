/** The direct conversations, the most recent first. */
import { SvelteMap } from 'svelte/reactivity'
import type { Api } from './api'
import type { ApiEvent, ApiMessages, Id, InitialState } from './api-types'
import { conversationOf } from './message.svelte'
import { directPlace, keyOf, type TalkPlace } from './place'

export interface DirectTalk {
    place: TalkPlace & { kind: 'direct' }
    newest: Id
}
/** Without the server's own list: conversations among so many of the newest direct messages. */
const LOOK_AT = 500

export class Directs {
    readonly #api: Api
    readonly #byKey = new SvelteMap<string, DirectTalk>()
    #me: Id = 0
    readonly all: readonly DirectTalk[] = $derived([...this.#byKey.values()].sort((a, b) => b.newest - a.newest))

    constructor(api: Api) {
        this.#api = api
    }

    load(state: InitialState): void {
        this.#me = state.user_id
        const listed = state.recent_private_conversations
        if (listed) for (const each of listed) this.#note(directPlace(each.user_ids, this.#me), each.max_message_id)
        else void this.#look()
    }

    apply(event: ApiEvent): void {
        if (event.type !== 'message') return
        const { message } = event
        if (message.type === 'private') this.#note(conversationOf(message, this.#me), message.id)
    }

    async #look(): Promise<void> {
        const answer = await this.#api.get<ApiMessages>('messages', {
            narrow: [{ operator: 'is', operand: 'dm' }],
            anchor: 'newest',
            num_before: LOOK_AT,
            num_after: 0,
            apply_markdown: false,
        })
        if (!answer.ok) return
        for (const message of answer.value.messages) this.#note(conversationOf(message, this.#me), message.id)
    }

    #note(place: TalkPlace, id: Id): void {
        if (place.kind !== 'direct') return
        const key = keyOf(place)
        const old = this.#byKey.get(key)
        if (!old || old.newest < id) this.#byKey.set(key, { place, newest: id })
    }
}
