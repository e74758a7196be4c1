import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Answer } from './api'
import type { ApiEvent } from './api-types'
import { EventLoop, type Queue } from './events'
import { FakeServer, settled } from './testing'

function stage() {
    const server = new FakeServer()
    const told: ApiEvent[] = []
    const log: string[] = []
    const queues: Answer<Queue>[] = []
    const loop = new EventLoop(server.api, {
        onEvents: (events) => {
            if (events.some((event) => (event.type as string) === 'impossible')) throw new Error('impossible')
            told.push(...events)
        },
        onQueueLost: () => Promise.resolve(queues.shift() ?? refused()),
        onOnline: () => log.push('online'),
        onOffline: () => log.push('offline'),
        onSignedOut: () => log.push('signed out'),
    })
    loop.start({ id: 'one', lastEventId: -1 })
    return { server, told, log, queues, loop }
}

function refused(retryAfter?: number): Answer<Queue> {
    const error = { kind: 'busy' as const, status: 503, code: '', msg: '', body: {} }
    return { ok: false, error: retryAfter ? { ...error, retryAfter } : error }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('the loop', () => {
    it('hands on each event once and acknowledges it with the next poll', async () => {
        const { server, told } = stage()
        ;(await server.next('events')).answer({
            events: [
                { id: 0, type: 'a' },
                { id: 1, type: 'b' },
            ],
        })
        const second = await server.next('events')
        expect(second.params['last_event_id']).toBe(1)
        second.answer({
            events: [
                { id: 1, type: 'b' },
                { id: 2, type: 'c' },
            ],
        })
        await server.next('events')
        expect(told.map((event) => event.id)).toEqual([0, 1, 2])
    })

    it('says that nobody answers after the second failure, and tries at longer distances', async () => {
        const { server, log } = stage()
        ;(await server.next('events')).fail()
        await settled()
        expect(log).toEqual([])
        vi.advanceTimersByTime(1000)
        ;(await server.next('events')).fail()
        await settled()
        expect(log).toEqual(['offline'])
        vi.advanceTimersByTime(2000)
        const back = await server.next('events')
        expect(back.params['dont_block']).toBe(true)
        back.answer({ events: [] })
        expect((await server.next('events')).params['dont_block']).toBe(false)
        expect(log).toEqual(['offline', 'online'])
    })

    it('tries at once when it is woken', async () => {
        const { server, loop } = stage()
        ;(await server.next('events')).fail()
        await settled()
        expect(server.open.length).toBe(0)
        loop.wake()
        await server.next('events')
    })

    it('leaves a connection that may be dead when it is woken for sure', async () => {
        const { server, loop } = stage()
        const dead = await server.next('events')
        loop.wake(true)
        const fresh = await server.next('events')
        expect(fresh).not.toBe(dead)
        expect(fresh.params['dont_block']).toBe(true)
    })

    it('replaces a queue that is gone, however long that takes', async () => {
        const { server, told, queues } = stage()
        ;(await server.next('events')).answer({ code: 'BAD_EVENT_QUEUE_ID', msg: '' }, 400)
        await settled()
        expect(server.open.length).toBe(0)
        queues.push({ ok: true, value: { id: 'two', lastEventId: 4 } })
        vi.advanceTimersByTime(1000)
        const fresh = await server.next('events')
        expect(fresh.params).toMatchObject({ queue_id: 'two', last_event_id: 4 })
        fresh.answer({ events: [{ id: 5, type: 'a' }] })
        await settled()
        expect(told.map((event) => event.id)).toEqual([5])
    })

    it('asks for a new queue at longer distances, says so, and waits as long as it is told', async () => {
        const { server, log, queues } = stage()
        queues.push(refused(), refused(30), { ok: true, value: { id: 'two', lastEventId: 4 } })
        ;(await server.next('events')).answer({ code: 'BAD_EVENT_QUEUE_ID', msg: '' }, 400)
        await settled()
        vi.advanceTimersByTime(1000)
        await settled()
        expect(log).toEqual(['offline'])
        expect(queues.length).toBe(1)
        vi.advanceTimersByTime(29_000)
        await settled()
        expect(queues.length).toBe(1)
        vi.advanceTimersByTime(9000)
        await server.next('events')
    })

    it('goes on with a new queue after an event that it could not take', async () => {
        const complaints = vi.spyOn(console, 'error').mockImplementation(() => {})
        const { server, told, queues } = stage()
        queues.push({ ok: true, value: { id: 'two', lastEventId: 4 } })
        ;(await server.next('events')).answer({ events: [{ id: 0, type: 'impossible' }] })
        await settled()
        vi.advanceTimersByTime(2000)
        const fresh = await server.next('events')
        expect(fresh.params['queue_id']).toBe('two')
        fresh.answer({ events: [{ id: 5, type: 'a' }] })
        await settled()
        expect(told.map((event) => event.id)).toEqual([5])
        expect(complaints).toHaveBeenCalledOnce()
        complaints.mockRestore()
    })

    it('rests as long as the server asks when there were too many requests', async () => {
        const { server } = stage()
        ;(await server.next('events')).answer({ code: 'RATE_LIMIT_HIT', 'retry-after': 20 }, 429)
        await settled()
        vi.advanceTimersByTime(19_000)
        await settled()
        expect(server.open.length).toBe(0)
        vi.advanceTimersByTime(6100)
        await server.next('events')
    })

    it('spares the server in a storm of events', async () => {
        const { server } = stage()
        server.auto = (request) => ({ events: [{ id: Number(request.params['last_event_id']) + 1, type: 'x' }] })
        for (let second = 0; second < 60; second += 1) {
            vi.advanceTimersByTime(1000)
            // oxlint-disable-next-line no-await-in-loop -- a minute goes by
            for (let turn = 0; turn < 20; turn += 1) await settled()
        }
        expect(server.all.length).toBeGreaterThan(50)
        expect(server.all.length).toBeLessThan(160)
    })

    it('ends when the session is over', async () => {
        const { server, log } = stage()
        ;(await server.next('events')).answer({ code: 'UNAUTHORIZED' }, 401)
        await settled()
        expect(log).toEqual(['signed out'])
        vi.advanceTimersByTime(60_000)
        await settled()
        expect(server.open.length).toBe(0)
    })
})
