import { describe, expect, it, vi } from 'vitest'
import type { ApiMessage } from './api-types'
import { arrival, arrive, found, ids, move, nextEventId, opened, stage } from './talk-testing'
import { channelMessage, type FakeServer, settled, update } from './testing'

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
        messages.apply(update({ id: nextEventId(), message_ids: [1], rendered_content: '<p>new</p>' }))
        messages.apply({ id: nextEventId(), type: 'delete_message', message_ids: [2], message_type: 'stream' })
        messages.apply(move([3], 'lunch', 'dinner'))
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
        messages.apply(move([2], 'lunch', 'dinner'))
        expect(ids(talk)).toEqual([1, 5])
        messages.apply(move([2, 3], 'dinner', 'Lunch'))
        expect(ids(talk)).toEqual([1, 2, 5])
        void talk.fetchMoved([2, 3])
        ;(await server.next('messages')).answer(found([channelMessage(3, { subject: 'Lunch' })]))
        await settled()
        expect(ids(talk)).toEqual([1, 2, 3, 5])
        messages.apply(move([1, 2, 3, 5], 'Lunch', 'tea'))
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

    it('shows nothing any more of what is out of reach by then', async () => {
        const { server, talk } = await opened([1, 2])
        void talk.reload()
        ;(await server.next('messages')).answer({ code: 'BAD_NARROW' }, 400)
        await settled()
        expect([ids(talk), talk.state]).toEqual([[], 'failed'])
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
        const read = { op: 'add' as const, flag: 'read', messages: [1, 2], all: false }
        messages.apply({ id: nextEventId(), type: 'update_message_flags', ...read })
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
    it('keeps what is near its end while one reads there', async () => {
        const { messages, talk } = await opened([1])
        arrive(messages, 2, 5000)
        expect(talk.rows.length).toBeLessThanOrEqual(600)
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
        expect(talk.rows.length).toBeLessThanOrEqual(600)
        expect([ids(talk).slice(0, 3), talk.atNewest, talk.atOldest]).toEqual([[1, 2, 3], false, true])
        void talk.loadNewer()
        expect((await server.next('messages')).params['anchor']).toBe(talk.rows.at(-1)?.id)
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
