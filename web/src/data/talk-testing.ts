/** A talk with a server that answers when the test says so. */
import type { ApiEvent, ApiMessage } from './api-types'
import { Messages } from './messages.svelte'
import type { TalkPlace } from './place'
import { Talk } from './talk.svelte'
import { arrived, channelMessage, FakeServer, settled, update } from './testing'

export const LUNCH: TalkPlace = { kind: 'topic', channelId: 1, topic: 'lunch' }
const context = { me: 2, isTopicMuted: () => false }
let eventId = 0
export const nextEventId = () => ++eventId

export function arrival(message: ApiMessage): ApiEvent {
    return arrived(nextEventId(), message)
}

export function found(
    messages: ApiMessage[],
    ends: { oldest?: boolean; newest?: boolean } = {},
): Record<string, unknown> {
    return {
        messages,
        found_oldest: ends.oldest ?? true,
        found_newest: ends.newest ?? true,
        found_anchor: true,
        anchor: 0,
        history_limited: false,
    }
}

export function move(message_ids: number[], orig_subject: string, subject: string): ApiEvent {
    return update({ id: nextEventId(), message_ids, stream_id: 1, orig_subject, subject })
}

export function stage(place: TalkPlace = LUNCH) {
    const server = new FakeServer()
    const messages = new Messages(server.api)
    return { server, messages, talk: new Talk(place, messages, context) }
}

export async function opened(ids: number[], ends: { oldest?: boolean; newest?: boolean } = {}) {
    const all = stage()
    void all.talk.open('newest')
    ;(await all.server.next('messages')).answer(
        found(
            ids.map((id) => channelMessage(id)),
            ends,
        ),
    )
    await settled()
    return all
}

export const ids = (talk: Talk) => talk.rows.map((row) => row.id)

/** Messages with these numbers arrive. */
export function arrive(messages: Messages, from: number, to: number, subject = 'lunch') {
    for (let id = from; id <= to; id++) messages.apply(arrival(channelMessage(id, { subject })))
}
