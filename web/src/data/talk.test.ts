import { describe, expect, it, vi } from 'vitest'
import type { ApiEvent, ApiMessage } from './api-types'
import { recording } from './fixtures/recorded'
import type { Message } from './message.svelte'
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

function move(message_ids: number[], orig_subject: string, subject: string): ApiEvent {
    const [message_id] = message_ids
    const about = { message_id, message_ids, stream_id: 1, orig_subject, subject, edit_timestamp: 9 }
    return { id: ++eventId, type: 'update_message', ...about }
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

describe('a talk that is opened anew', () => {
    it('keeps what arrives meanwhile, in the old rows and in the new ones', async () => {
        const { server, messages, talk } = await opened([1, 2])
        void talk.reload()
        const request = await server.next('messages')
        messages.apply(arrival(channelMessage(3)))
        expect(ids(talk)).toEqual([1, 2, 3])
        request.answer(found([channelMessage(1), channelMessage(2)]))
        await settled()
        expect(ids(talk)).toEqual([1, 2, 3])
    })

    it('keeps what is moved to it meanwhile, loaded or not', async () => {
        const { server, messages, talk } = await opened([1, 5])
        messages.apply(arrival(channelMessage(3, { subject: 'tea' })))
        void talk.reload()
        const request = await server.next('messages')
        messages.apply(move([3, 4], 'tea', 'lunch'))
        void talk.fetchMoved([3, 4])
        request.answer(found([channelMessage(1), channelMessage(5)]))
        await settled()
        expect(ids(talk)).toEqual([1, 3, 5])
        const asked = await server.next('messages')
        expect(asked.params['message_ids']).toEqual([4])
        asked.answer(found([channelMessage(4)]))
        await settled()
        expect(ids(talk)).toEqual([1, 3, 4, 5])
    })

    it('does not pretend to be whole when that fails, and tries again', async () => {
        vi.useFakeTimers()
        const { server, messages, talk } = await opened([1, 2])
        void talk.reload()
        ;(await server.next('messages')).fail()
        await settled()
        messages.apply(arrival(channelMessage(9)))
        expect([ids(talk), talk.atNewest, talk.state]).toEqual([[1, 2], false, 'ready'])
        vi.advanceTimersByTime(5100)
        const again = await server.next('messages')
        expect(again.params['anchor']).toBe('newest')
        again.answer(found([1, 2, 8, 9].map((id) => channelMessage(id))))
        await settled()
        expect([ids(talk), talk.atNewest, talk.error]).toEqual([[1, 2, 8, 9], true, null])
        vi.useRealTimers()
    })

    it('tries again around what is being read by then', async () => {
        vi.useFakeTimers()
        const { server, talk } = await opened([1, 2, 3])
        void talk.reload()
        ;(await server.next('messages')).fail()
        await settled()
        talk.readingId = 2
        vi.advanceTimersByTime(5100)
        expect((await server.next('messages')).params['anchor']).toBe(2)
        vi.useRealTimers()
    })

    it('does not try again once it is closed', async () => {
        vi.useFakeTimers()
        const { server, talk } = await opened([1, 2])
        void talk.reload()
        ;(await server.next('messages')).fail()
        await settled()
        talk.close()
        vi.advanceTimersByTime(60_000)
        await settled()
        expect(server.open).toEqual([])
        vi.useRealTimers()
    })

    it('is fetched whole when very many messages came to it, or they could not be had', async () => {
        const { server, talk } = await opened([1, 500])
        void talk.fetchMoved(Array.from({ length: 150 }, (_, index) => index + 2))
        const many = await server.next('messages')
        expect(many.params['message_ids']).toBeUndefined()
        many.answer(found([channelMessage(1), channelMessage(500)]))
        await settled()
        void talk.fetchMoved([2])
        ;(await server.next('messages')).fail()
        const whole = await server.next('messages')
        expect(whole.params['anchor']).toBe('newest')
    })
})

describe('a topic that went elsewhere', () => {
    it('says so until something comes to it again', async () => {
        const { messages, talk } = await opened([1, 2])
        messages.apply(move([1, 2], 'lunch', '✔ lunch'))
        expect(talk.movedTo).toEqual({ kind: 'topic', channelId: 1, topic: '✔ lunch' })
        messages.apply(move([1, 2], '✔ lunch', 'lunch'))
        expect([ids(talk), talk.movedTo]).toEqual([[1, 2], null])
    })
})

describe('a talk to which somebody comes back', () => {
    it('is placed at its first unread message, or at its end', async () => {
        const { server, messages, talk } = await opened([1, 2])
        const read = { id: ++eventId, type: 'update_message_flags', op: 'add', flag: 'read', messages: [1, 2] }
        messages.apply(read)
        await talk.revisit()
        expect([talk.firstUnreadId, talk.focusId, talk.opened]).toEqual([null, null, 2])
        messages.apply(arrival(channelMessage(3)))
        messages.apply(arrival(channelMessage(4)))
        await talk.revisit()
        expect([talk.firstUnreadId, talk.focusId, talk.opened]).toEqual([3, 3, 3])
        expect(server.all.length).toBe(1)
    })

    it('is loaded there if it does not reach so far', async () => {
        const { server, talk } = await opened([1, 2], { newest: false })
        void talk.revisit()
        expect((await server.next('messages')).params['anchor']).toBe('first_unread')
    })

    it('is left to load if it is loading', async () => {
        const { server, talk } = stage()
        void talk.open(7)
        await server.next('messages')
        void talk.revisit()
        await settled()
        expect(server.all.length).toBe(1)
    })
})

describe('a talk whose far ends are let go while it loads', () => {
    it('has no gap above', async () => {
        const { server, talk } = await opened([5, 6, 7, 8], { oldest: false })
        void talk.loadOlder()
        const request = await server.next('messages')
        talk.readingId = 8
        talk.trim(3)
        request.answer(found([channelMessage(3), channelMessage(4)]))
        await settled()
        expect([ids(talk), talk.atOldest]).toEqual([[7, 8], false])
    })

    it('has no gap below', async () => {
        const { server, talk } = await opened([1, 2, 3, 4], { newest: false })
        void talk.loadNewer()
        const request = await server.next('messages')
        talk.readingId = 1
        talk.trim(3)
        request.answer(found([channelMessage(5), channelMessage(6)]))
        await settled()
        expect([ids(talk), talk.atNewest]).toEqual([[1, 2], false])
    })
})

describe('a talk that is open for days', () => {
    const arrive = (messages: Messages, from: number, to: number) => {
        for (let id = from; id <= to; id++) messages.apply(arrival(channelMessage(id)))
    }

    it('keeps what is near its end while one reads there', async () => {
        const { messages, talk } = await opened([1])
        arrive(messages, 2, 5000)
        expect(talk.rows.length).toBeLessThanOrEqual(2000)
        expect([talk.rows.at(-1)?.id, talk.atNewest, talk.atOldest]).toEqual([5000, true, false])
    })

    it('stays at its end while nobody scrolls, whatever was last there', async () => {
        const { server, messages, talk } = await opened([1, 2, 3])
        talk.readingId = 'newest'
        arrive(messages, 4, 5000)
        expect([talk.rows.at(-1)?.id, talk.atNewest]).toEqual([5000, true])
        void talk.reload()
        expect((await server.next('messages')).params['anchor']).toBe('newest')
    })

    it('keeps what is near the message being read, and loads the rest when it is asked for', async () => {
        const { server, messages, talk } = await opened([1, 2, 3])
        talk.readingId = 2
        arrive(messages, 4, 5000)
        expect(talk.rows.length).toBeLessThanOrEqual(2000)
        expect([ids(talk).slice(0, 3), talk.atNewest, talk.atOldest]).toEqual([[1, 2, 3], false, true])
        void talk.loadNewer()
        expect((await server.next('messages')).params['anchor']).toBe(talk.rows.at(-1)?.id)
    })

    it('lets the messages go that nobody shows', async () => {
        const { messages } = await opened([1])
        for (let id = 2; id <= 6_100; id++) messages.apply(arrival(channelMessage(id, { subject: 'elsewhere' })))
        await new Promise((resolve) => setTimeout(resolve))
        expect(messages.size).toBeLessThanOrEqual(3_100)
        expect([1, 2, 6_100].map((id) => messages.get(id) !== undefined)).toEqual([true, false, true])
    })

    const elsewhere = (messages: Messages, from: number, to: number) => {
        for (let id = from; id <= to; id++) messages.apply(arrival(channelMessage(id, { subject: 'elsewhere' })))
    }
    const aTurn = () => new Promise((resolve) => setTimeout(resolve))

    it('keeps a message that is being changed', async () => {
        const { messages } = await opened([1])
        elsewhere(messages, 2, 2)
        const edited = messages.get(2)
        if (edited) edited.isKept = true
        elsewhere(messages, 3, 6_100)
        await aTurn()
        expect([2, 3].map((id) => messages.get(id) !== undefined)).toEqual([true, false])
    })

    it('keeps what waits for a fetch, and lets go once that has ended', async () => {
        const { server, messages, talk } = await opened([1], { newest: false })
        void talk.loadNewer()
        const request = await server.next('messages')
        messages.apply(arrival(channelMessage(3)))
        elsewhere(messages, 4, 6_100)
        await aTurn()
        request.answer(found([channelMessage(2)]))
        await settled()
        expect(ids(talk)).toEqual([1, 2, 3])
        expect(talk.rows[2]).toBe(messages.get(3))
        await aTurn()
        expect(messages.size).toBeLessThanOrEqual(3_100)
        expect(talk.rows[2]).toBe(messages.get(3))
    })

    it('does not look again at each message that arrives when nearly all are shown', async () => {
        const { messages } = stage()
        const rows: Message[] = []
        const looked = vi.fn(() => rows)
        messages.listen({
            get rows() {
                return looked()
            },
            arrived: (found) => rows.push(...found),
            changed: () => {},
            removed: () => {},
        })
        arrive(messages, 1, 6_001)
        await aTurn()
        expect(looked).toHaveBeenCalledTimes(1)
        arrive(messages, 6_002, 6_900)
        await aTurn()
        expect(looked).toHaveBeenCalledTimes(1)
        arrive(messages, 6_901, 7_002)
        await aTurn()
        expect(looked).toHaveBeenCalledTimes(2)
    })
})

describe('the line before what is unread', () => {
    const read = (id: number) => channelMessage(id, { flags: ['read'] })
    async function answered(server: FakeServer, messages: ApiMessage[], ends = {}) {
        ;(await server.next('messages')).answer(found(messages, ends))
        await settled()
    }

    async function atUnread() {
        const all = stage()
        void all.talk.open('first_unread')
        await answered(all.server, [read(1), channelMessage(2), channelMessage(3)], { newest: false })
        expect(all.talk.firstUnreadId).toBe(2)
        return all
    }

    it('is where it was after one went to an end that is far below it', async () => {
        const { server, talk } = await atUnread()
        void talk.open('newest')
        await answered(server, [channelMessage(90), channelMessage(91)], { oldest: false })
        expect([talk.firstUnreadId, talk.focusId]).toEqual([2, null])
        void talk.open(2)
        await answered(server, [read(1), read(2), channelMessage(3)], { newest: false })
        expect([talk.firstUnreadId, talk.focusId]).toEqual([2, 2])
    })

    it('is another where the rows tell', async () => {
        const { server, talk } = await atUnread()
        void talk.open('newest')
        await answered(server, [read(90), channelMessage(91)], { oldest: false })
        expect(talk.firstUnreadId).toBe(91)
        void talk.open('first_unread')
        await answered(server, [channelMessage(95), channelMessage(96)], { oldest: false })
        expect(talk.firstUnreadId).toBe(95)
    })
})

it('a talk opens at its beginning', async () => {
    const { server, talk } = await opened([7, 8], { oldest: false })
    void talk.open('oldest')
    const request = await server.next('messages')
    expect(request.params['anchor']).toBe('oldest')
    request.answer(found([channelMessage(1), channelMessage(2)], { newest: false }))
    await settled()
    expect([ids(talk), talk.focusId, talk.atOldest, talk.atNewest]).toEqual([[1, 2], 1, true, false])
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

    it('that were edited show the new text, not what a search marked in the old one', () => {
        const marked = channelMessage(1, { match_content: '<p><b>old</b></p>', match_subject: 'lunch' })
        const event = { id: 1, type: 'update_message', message_id: 1, message_ids: [1], rendered_content: '<p>new</p>' }
        const after = changedBy(marked, event)
        expect([after.content, after.match_content, after.match_subject]).toEqual(['<p>new</p>', undefined, undefined])
    })

    it('of which no event tells arrive when they are brought', async () => {
        const { server, messages, talk } = await opened([1])
        const fetched: number[] = []
        messages.onFetched = (found) => fetched.push(...found)
        void messages.bring(2)
        ;(await server.next('messages')).answer(found([channelMessage(2)]))
        await settled()
        expect([ids(talk), fetched]).toEqual([[1, 2], [2]])
    })
})
