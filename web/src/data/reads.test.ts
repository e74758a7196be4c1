import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { EventOf } from './api-types'
import { Messages } from './messages.svelte'
import type { TalkPlace } from './place'
import { Reads } from './reads'
import { arrived, channelMessage, FakeServer, settled } from './testing'
import { Unread } from './unread.svelte'

const LUNCH: TalkPlace = { kind: 'topic', channelId: 1, topic: 'lunch' }

/** Messages 1 to 3 about lunch and 4 about tea; the counts know all but the first. */
function stage() {
    const server = new FakeServer()
    const messages = new Messages(server.api)
    const rules = { me: 2, isTopicMuted: () => false, isSubscribed: () => true }
    const unread = new Unread(rules)
    for (const id of [1, 2, 3, 4]) {
        const message = channelMessage(id, id === 4 ? { subject: 'tea' } : {})
        const event = arrived(id, message)
        messages.apply(event)
        if (id > 1) unread.apply(event)
    }
    return { server, messages, unread, reads: new Reads(server.api, messages, unread, rules) }
}

/** What the server is told next; it says yes. */
async function told(server: FakeServer): Promise<unknown> {
    vi.advanceTimersByTime(6000)
    await settled()
    const request = server.open.find((each) => each.path === 'messages/flags')
    request?.answer({})
    await settled()
    return request?.params['messages']
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('marks what was seen, also what is too old for the counts', async () => {
    const { server, messages, reads } = stage()
    reads.seen([1, 2])
    expect(messages.get(1)?.isUnread).toBe(false)
    expect(await told(server)).toEqual([1, 2])
    reads.seen([1, 2])
    expect(await told(server)).toBeUndefined()
})

it('does not forget what was read elsewhere when a topic is marked unread', async () => {
    const { server, reads } = stage()
    reads.seen([2, 3, 4])
    void reads.unreadFrom(LUNCH, 2)
    expect(await told(server)).toEqual([4])
})

it('leaves unread what was marked so by hand while it is looked at', async () => {
    const { server, messages, unread, reads } = stage()
    reads.seen([1, 2, 3])
    expect(await told(server)).toEqual([1, 2, 3])
    void reads.unreadFrom(LUNCH, 2)
    ;(await server.next('messages/flags/narrow')).answer({})
    const detail = { type: 'stream' as const, stream_id: 1, topic: 'lunch' }
    const event: EventOf<'update_message_flags'> = {
        id: 9,
        type: 'update_message_flags',
        op: 'remove',
        flag: 'read',
        messages: [2, 3],
        all: false,
        message_details: { 2: detail, 3: detail },
    }
    for (const each of [messages, unread, reads]) each.apply(event)
    reads.seen([2, 3, 4])
    expect(await told(server)).toEqual([4])
    expect(unread.of(LUNCH)).toBe(2)
    reads.leave({ kind: 'topic', channelId: 1, topic: 'tea' })
    reads.seen([2, 3])
    expect(unread.of(LUNCH)).toBe(2)
    reads.leave({ kind: 'feed' })
    reads.seen([2, 3])
    expect(await told(server)).toEqual([2, 3])
})
