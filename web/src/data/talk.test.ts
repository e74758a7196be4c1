import { describe, expect, it } from 'vitest'
import type { ApiEvent, ApiMessage } from './api-types'
import { recording } from './fixtures/recorded'
import { changedBy, Messages } from './messages.svelte'
import { Talk } from './talk.svelte'
import { channelMessage, FakeServer, settled } from './testing'
import type { TalkPlace } from './place'

const LUNCH: TalkPlace = { kind: 'topic', channelId: 1, topic: 'lunch' }
const context = { me: 2, isTopicMuted: () => false }
let eventId = 0

function arrival(message: ApiMessage): ApiEvent {
    return { id: ++eventId, type: 'message', message, flags: message.flags }
}

function found(messages: ApiMessage[], ends: { oldest?: boolean; newest?: boolean } = {}): Record<string, unknown> {
    return {
        messages,
        found_oldest: ends.oldest ?? true,
        found_newest: ends.newest ?? true,
        found_anchor: true,
        anchor: 0,
        history_limited: false,
    }
}

function stage(place: TalkPlace = LUNCH) {
    const server = new FakeServer()
    const messages = new Messages(server.api)
    return { server, messages, talk: new Talk(place, messages, context) }
}

async function opened(ids: number[], ends: { oldest?: boolean; newest?: boolean } = {}) {
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

const ids = (talk: Talk) => talk.rows.map((row) => row.id)

describe('a talk', () => {
    it('grows by what arrives only while it reaches the newest message', async () => {
        const { talk, messages } = await opened([1, 2], { newest: true })
        messages.apply(arrival(channelMessage(3)))
        expect(ids(talk)).toEqual([1, 2, 3])
        const far = await opened([1, 2], { newest: false })
        far.messages.apply(arrival(channelMessage(9)))
        expect(ids(far.talk)).toEqual([1, 2])
    })

    it('has no gap when a message arrives while the newest are being fetched', async () => {
        const { server, messages, talk } = stage()
        void talk.open('newest')
        const request = await server.next('messages')
        messages.apply(arrival(channelMessage(3)))
        messages.apply(arrival(channelMessage(4, { subject: 'another' })))
        request.answer(found([channelMessage(1), channelMessage(2)]))
        await settled()
        expect(ids(talk)).toEqual([1, 2, 3])
        messages.apply(arrival(channelMessage(3)))
        expect(ids(talk)).toEqual([1, 2, 3])
    })

    it('does not join what arrived to a stretch that ends before it', async () => {
        const { server, messages, talk } = stage()
        void talk.open(1)
        const request = await server.next('messages')
        messages.apply(arrival(channelMessage(50)))
        request.answer(found([channelMessage(1), channelMessage(2)], { newest: false }))
        await settled()
        expect(ids(talk)).toEqual([1, 2])
        void talk.loadNewer()
        const more = await server.next('messages')
        expect(more.params['anchor']).toBe(2)
        messages.apply(arrival(channelMessage(51)))
        more.answer(found([channelMessage(3), channelMessage(50)]))
        await settled()
        expect(ids(talk)).toEqual([1, 2, 3, 50, 51])
        expect(talk.atNewest).toBe(true)
    })

    it('shows the newest state when an answer is older than an event', async () => {
        const { server, messages, talk } = stage()
        void talk.open('newest')
        const request = await server.next('messages')
        messages.apply({
            id: ++eventId,
            type: 'update_message',
            message_id: 1,
            message_ids: [1],
            rendered_content: '<p>new</p>',
            edit_timestamp: 9,
            flags: [],
        })
        messages.apply({ id: ++eventId, type: 'delete_message', message_ids: [2], message_type: 'stream' })
        messages.apply({
            id: ++eventId,
            type: 'update_message',
            message_id: 3,
            message_ids: [3],
            stream_id: 1,
            orig_subject: 'lunch',
            subject: 'dinner',
            edit_timestamp: 9,
        })
        request.answer(found([channelMessage(1), channelMessage(2), channelMessage(3), channelMessage(4)]))
        await settled()
        expect(ids(talk)).toEqual([1, 4])
        expect(talk.rows[0]?.html).toBe('<p>new</p>')
        expect(talk.rows[0]?.isEdited).toBe(true)
    })

    it('loads older messages until there are none', async () => {
        const { server, talk } = await opened([5, 6], { oldest: false })
        void talk.loadOlder()
        void talk.loadOlder()
        ;(await server.next('messages')).answer(found([channelMessage(3), channelMessage(4)], { oldest: true }))
        await settled()
        expect(ids(talk)).toEqual([3, 4, 5, 6])
        expect(talk.atOldest).toBe(true)
        await talk.loadOlder()
        expect(server.all.length).toBe(2)
    })

    it('takes in what is moved to it and lets go what is moved away', async () => {
        const { server, messages, talk } = await opened([1, 2, 5])
        const move = { type: 'update_message', stream_id: 1, edit_timestamp: 9 }
        messages.apply({
            ...move,
            id: ++eventId,
            message_id: 2,
            message_ids: [2],
            orig_subject: 'lunch',
            subject: 'dinner',
        })
        expect(ids(talk)).toEqual([1, 5])
        messages.apply({
            ...move,
            id: ++eventId,
            message_id: 2,
            message_ids: [2, 3],
            orig_subject: 'dinner',
            subject: 'Lunch',
        })
        expect(ids(talk)).toEqual([1, 2, 5])
        void talk.fetchMoved([2, 3])
        ;(await server.next('messages')).answer(found([channelMessage(3, { subject: 'Lunch' })]))
        await settled()
        expect(ids(talk)).toEqual([1, 2, 3, 5])
        messages.apply({
            ...move,
            id: ++eventId,
            message_id: 1,
            message_ids: [1, 2, 3, 5],
            orig_subject: 'Lunch',
            subject: 'tea',
        })
        expect(ids(talk)).toEqual([])
        expect(talk.movedTo).toEqual({ kind: 'topic', channelId: 1, topic: 'tea' })
    })

    it('keeps what it has when a fetch fails, and says so', async () => {
        const { server, talk } = await opened([1, 2], { oldest: false })
        void talk.loadOlder()
        ;(await server.next('messages')).fail()
        await settled()
        expect(ids(talk)).toEqual([1, 2])
        expect(talk.error?.kind).toBe('offline')
        expect(talk.loadingOlder).toBe(false)
    })

    it('passes over an answer that comes after the place was opened anew', async () => {
        const { server, talk } = stage()
        void talk.open('newest')
        const old = await server.next('messages')
        void talk.open(40)
        await settled()
        const fresh = server.open.find((request) => request !== old)
        fresh?.answer(found([channelMessage(40)]))
        await settled()
        old.answer(found([channelMessage(1)]))
        await settled()
        expect(ids(talk)).toEqual([40])
        expect(talk.focusId).toBe(40)
    })
})

describe('messages', () => {
    it('after the recorded events are what the server then gives', async () => {
        const { events, messages: after } = recording()
        const server = new FakeServer()
        const messages = new Messages(server.api)
        for (const event of events) messages.apply(event)
        const arrived = new Set(events.filter((e) => e.type === 'message').map((e) => (e['message'] as ApiMessage).id))
        const expected = after.filter((message) => arrived.has(message.id))
        expect(expected.length).toBeGreaterThan(5)
        for (const message of expected) {
            const kept = messages.get(message.id)?.data
            const { content, subject, flags, reactions } = message
            const kind = kept?.type === 'stream' ? kept.stream_id : null
            expect({
                content: kept?.content,
                subject: kept?.subject,
                flags: [...(kept?.flags ?? [])].sort(),
                reactions: kept?.reactions.map((r) => [r.user_id, r.emoji_code]),
                kind,
            }).toEqual({
                content,
                subject,
                flags: [...flags].sort(),
                reactions: reactions.map((r) => [r.user_id, r.emoji_code]),
                kind: message.type === 'stream' ? message.stream_id : null,
            })
        }
    })

    it('stay as they are when the same event comes twice', () => {
        const { events, messages } = recording()
        for (const event of events) {
            for (const message of messages) {
                const once = changedBy(message, event)
                expect(changedBy(once, event)).toEqual(once)
            }
        }
    })
})
