// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { InitialState } from './api-types'
import { recording } from './fixtures/recorded'
import { memoryKeep } from './keep'
import type { LastRead } from './last-read'
import type { SendPlace } from './outbox.svelte'
import { channelMessage, FakeServer, settled, type Request } from './testing'
import { World } from './world.svelte'

const LUNCH: SendPlace = { kind: 'topic', channelId: 1, topic: 'lunch' }
const worlds: World[] = []

/** A world that has begun. What a test does not wait for is answered with nothing. */
async function stage() {
    const server = new FakeServer()
    const before = { ...recording().before, recent_private_conversations: [] }
    const quiet = (request: Request) => (request.path === 'users/me/presence' ? {} : null)
    server.auto = (request) => {
        if (request.path === 'register') return before as unknown as Record<string, unknown>
        if (request.path === 'sessions/current') return { user_id: before.user_id, csrf_token: 'token', email: '' }
        return quiet(request)
    }
    await server.api.resume()
    const world = new World(server.api, memoryKeep())
    worlds.push(world)
    await world.begin()
    server.auto = quiet
    const signedOut = vi.fn()
    world.onSignedOut = signedOut
    return { server, world, before, signedOut }
}

beforeEach(() => {
    vi.useFakeTimers()
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no page')))
})
afterEach(() => {
    for (const world of worlds.splice(0)) world.end()
    vi.unstubAllGlobals()
    vi.useRealTimers()
})

const sent = (server: FakeServer) => server.open.filter((request) => request.method !== 'GET')

describe('a world that has ended', () => {
    it('sends nothing any more: neither messages, nor drafts, nor what was read', async () => {
        const { server, world } = await stage()
        world.outbox.send(LUNCH, 'from me')
        ;(await server.next('messages')).fail()
        await settled()
        world.drafts.write(LUNCH, 'half a sentence')
        world.messages.apply({ id: 1, type: 'message', message: channelMessage(900), flags: [] })
        world.unread.apply({ id: 1, type: 'message', message: channelMessage(900), flags: [] })
        world.reads.seen([900])
        world.end()
        vi.advanceTimersByTime(60_000)
        await settled()
        void world.outbox.flush()
        void world.reads.flush()
        void world.drafts.flush()
        await settled()
        expect(sent(server)).toEqual([])
    })

    it('sends no second message after the first that was under way', async () => {
        const { server, world } = await stage()
        world.outbox.send(LUNCH, 'first')
        vi.advanceTimersByTime(1)
        world.outbox.send(LUNCH, 'second')
        const first = await server.next('messages')
        world.end()
        first.answer({ id: 7 })
        await settled()
        vi.advanceTimersByTime(60_000)
        await settled()
        expect(sent(server)).toEqual([])
    })
})

describe('when somebody else signed in at this browser', () => {
    it('a message is not sent as theirs', async () => {
        const { server, world, signedOut } = await stage()
        const item = world.outbox.send(LUNCH, 'from me')
        ;(await server.next('messages')).answer({ code: 'CSRF_FAILED' }, 403)
        ;(await server.next('sessions/current')).answer({ user_id: 999, csrf_token: 'theirs', email: '' })
        await settled()
        vi.advanceTimersByTime(60_000)
        await settled()
        expect(server.all.filter((request) => request.path === 'messages').length).toBe(1)
        expect(item.state).toBe('waiting')
        expect(signedOut).toHaveBeenCalledOnce()
    })

    it('the same person with a new session goes on', async () => {
        const { server, world, before, signedOut } = await stage()
        world.outbox.send(LUNCH, 'from me')
        ;(await server.next('messages')).answer({ code: 'CSRF_FAILED' }, 403)
        ;(await server.next('sessions/current')).answer({ user_id: before.user_id, csrf_token: 'new', email: '' })
        const again = await server.next('messages')
        expect(again.headers['X-CSRF-Token']).toBe('new')
        expect(signedOut).not.toHaveBeenCalled()
    })

    it('a new registration is not taken', async () => {
        const { server, world, before, signedOut } = await stage()
        ;(await server.next('events')).answer({ code: 'BAD_EVENT_QUEUE_ID' }, 400)
        const theirs = { ...before, user_id: 999 } as InitialState
        ;(await server.next('register')).answer(theirs as unknown as Record<string, unknown>)
        await settled()
        expect(signedOut).toHaveBeenCalledOnce()
        expect(world.me).toBe(before.user_id)
        vi.advanceTimersByTime(60_000)
        await settled()
        expect(server.open).toEqual([])
    })
})

describe('a world', () => {
    it('registers anew after an event that it cannot take', async () => {
        const complaints = vi.spyOn(console, 'error').mockImplementation(() => {})
        const { server, before } = await stage()
        ;(await server.next('events')).answer({ events: [{ id: before.last_event_id + 1, type: 'message' }] })
        await settled()
        vi.advanceTimersByTime(2000)
        ;(await server.next('register')).answer(before as unknown as Record<string, unknown>)
        await server.next('events')
        complaints.mockRestore()
    })

    it('does not mind that somebody who is told of events fails', async () => {
        const complaints = vi.spyOn(console, 'error').mockImplementation(() => {})
        const { server, world, before } = await stage()
        world.onEvent = () => {
            throw new Error('no bell')
        }
        ;(await server.next('events')).answer({ events: [{ id: before.last_event_id + 1, type: 'heartbeat' }] })
        const next = await server.next('events')
        expect(next.params['last_event_id']).toBe(before.last_event_id + 1)
        complaints.mockRestore()
    })

    it('shows a talk from its first unread message when somebody comes back to it', async () => {
        const { server, world } = await stage()
        const talk = world.talk(LUNCH)
        const request = await server.next('messages')
        request.answer({ messages: [channelMessage(1, { flags: ['read'] })], found_oldest: true, found_newest: true })
        await settled()
        world.messages.apply({ id: 1, type: 'message', message: channelMessage(2), flags: [] })
        expect(world.talk(LUNCH)).toBe(talk)
        await settled()
        expect([talk.focusId, talk.firstUnreadId, talk.opened]).toEqual([2, 2, 2])
    })

    it('keeps of a talk that was left what one comes back to, and not all that is said there', async () => {
        const { server, world } = await stage()
        const talk = world.talk(LUNCH)
        ;(await server.next('messages')).answer({ messages: [], found_oldest: true, found_newest: true })
        await settled()
        const say = (from: number, to: number) => {
            for (let id = from; id <= to; id += 1)
                world.messages.apply({ id, type: 'message', message: channelMessage(id), flags: [] })
        }
        say(1, 500)
        expect(talk.rows.length).toBe(500)
        world.talk({ kind: 'feed' })
        await settled()
        expect([talk.rows.length <= 150, talk.rows.at(-1)?.id, talk.atNewest]).toEqual([true, 500, true])
        say(501, 1000)
        expect([talk.rows.length <= 150, talk.rows.at(-1)?.id, talk.atNewest]).toEqual([true, 1000, true])
        world.talk(LUNCH)
        await settled()
        say(1001, 1200)
        expect(talk.rows.length).toBeGreaterThan(200)
    })

    it('shows what one says in a channel without following it, once', async () => {
        const { server, world } = await stage()
        const place: SendPlace = { kind: 'topic', channelId: 404, topic: 'lunch' }
        const talk = world.talk(place)
        ;(await server.next('messages')).answer({ messages: [], found_oldest: true, found_newest: true })
        await settled()
        world.outbox.send(place, 'Hello')
        ;(await server.next('messages')).answer({ id: 7 })
        const asked = await server.next('messages')
        expect(asked.params['message_ids']).toEqual([7])
        asked.answer({ messages: [channelMessage(7, { stream_id: 404 })] })
        await settled()
        expect([talk.rows.map((row) => row.id), world.outbox.all]).toEqual([[7], []])
    })

    it('fetches the feed again when a channel is muted, not when it changes its colour', async () => {
        const { server, world, before } = await stage()
        world.talk({ kind: 'feed' })
        ;(await server.next('messages')).answer({ messages: [], found_oldest: true, found_newest: true })
        await settled()
        const about = { type: 'subscription', op: 'update', stream_id: 1 }
        const next = before.last_event_id + 1
        ;(await server.next('events')).answer({ events: [{ ...about, id: next, property: 'color', value: '#fff' }] })
        const poll = await server.next('events')
        expect(server.open.some((request) => request.path === 'messages')).toBe(false)
        poll.answer({ events: [{ ...about, id: next + 1, property: 'is_muted', value: true }] })
        await server.next('messages')
    })
})

describe('a world that hears the recorded events', () => {
    it('knows in all its parts what a new registration tells', async () => {
        const { server, world } = await stage()
        const { events, after } = recording()
        ;(await server.next('events')).answer({ events })
        await settled()
        const fresh = new World(new FakeServer().api, memoryKeep())
        worlds.push(fresh)
        fresh.realm.load(after)
        fresh.unread.load(after.unread_msgs)
        for (const part of ['users', 'channels', 'groups', 'folders', 'topicPolicies', 'snippets'] as const) {
            const known = [world, fresh].map(({ realm }) => new Map<unknown, unknown>(realm[part]))
            expect(known[0], part).toEqual(known[1])
        }
        expect(world.realm.settings).toEqual(after.user_settings)
        expect([...world.realm.mutedUsers]).toEqual([...fresh.realm.mutedUsers])
        expect(world.unread.total).toBe(fresh.unread.total)
        expect(world.drafts.all.map((draft) => draft.content)).toEqual(after.drafts.map((draft) => draft.content))
        expect(world.scheduled.all).toEqual(after.scheduled_messages)
        const said = events.flatMap((event) => (event.type === 'message' ? event.message.id : []))
        expect(said.some((id) => world.messages.get(id))).toBe(true)
    })

    it('keeps nothing of a registration that is answered when it has ended', async () => {
        const server = new FakeServer()
        const lastRead = { keepState: vi.fn() }
        const world = new World(server.api, memoryKeep(), lastRead as unknown as LastRead)
        worlds.push(world)
        const begun = world.begin()
        const asked = await server.next('register')
        world.end()
        asked.answer(recording().before as unknown as Record<string, unknown>)
        await begun
        expect(lastRead.keepState).not.toHaveBeenCalled()
    })

    it('passes over a type of event that is newer than the page', async () => {
        const { server, world, before } = await stage()
        const id = before.last_event_id
        const news = { id: id + 2, type: 'alert_words', alert_words: ['tea'] }
        ;(await server.next('events')).answer({ events: [{ id: id + 1, type: 'not_yet_invented' }, news] })
        await settled()
        expect(world.realm.alertWords).toEqual(['tea'])
    })
})
