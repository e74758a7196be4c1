// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Message } from './message.svelte'
import type { Talk } from './talk.svelte'
import { FakeServer } from './testing'
import { registerVisitor, VisitLoop } from './visitor'

const PLACE = { kind: 'topic', channelId: 7, topic: 'harbour' } as const

function talkAt(last: number, more: object = {}): Talk {
    return {
        place: PLACE,
        rows: [{ id: last } as Message],
        atNewest: true,
        isOpening: false,
        ...more,
    } as unknown as Talk
}

describe('a visitor', () => {
    const server = new FakeServer()
    const told: string[] = []
    let talk: Talk | undefined
    let loop: VisitLoop

    beforeEach(() => {
        vi.useFakeTimers()
        server.all.length = server.open.length = told.length = 0
        server.auto = () => null
        talk = talkAt(41)
        const handlers = {
            onEvents: (events: { type: string }[]) => told.push(...events.map((each) => each.type)),
            onQueueLost: async () => {
                told.push('anew')
                return { ok: true as const, value: { id: '', lastEventId: -1 } }
            },
            onOnline: () => {},
            onOffline: () => told.push('offline'),
            onSignedOut: () => told.push('signedOut'),
        }
        loop = new VisitLoop(server.api, handlers, () => talk)
        loop.start(null)
    })
    afterEach(() => {
        loop.stop()
        vi.useRealTimers()
    })

    it('asks for what came after the last message of the talk that is shown, among what is open', async () => {
        server.auto = () => ({ messages: [{ id: 42, flags: ['read'] }], found_newest: true })
        await vi.advanceTimersByTimeAsync(10_000)
        expect(told).toEqual(['message'])
        expect(server.all[0]?.params).toMatchObject({
            anchor: 41,
            num_before: 0,
            include_anchor: false,
            narrow: [
                { operator: 'channels', operand: 'web-public' },
                { operator: 'channel', operand: 7 },
                { operator: 'topic', operand: 'harbour' },
            ],
        })
    })

    it('begins anew every minute, and where more was said than one answer holds', async () => {
        server.auto = () => ({ messages: [], found_newest: true })
        await vi.advanceTimersByTimeAsync(50_000)
        expect(told).toEqual([])
        await vi.advanceTimersByTimeAsync(10_000)
        expect(told).toEqual(['anew'])
        server.auto = () => ({ messages: [{ id: 42, flags: [] }], found_newest: false })
        await vi.advanceTimersByTimeAsync(10_000)
        expect(told).toEqual(['anew', 'anew'])
    })

    it('begins anew at once where the place is no longer open', async () => {
        await vi.advanceTimersByTimeAsync(10_000)
        server.open[0]?.answer({ code: 'BAD_NARROW' }, 400)
        await vi.advanceTimersByTimeAsync(1_000)
        expect(told).toEqual(['anew'])
    })

    it('asks for nothing while older messages are read', async () => {
        talk = talkAt(41, { atNewest: false })
        await vi.advanceTimersByTimeAsync(50_000)
        expect(server.all).toEqual([])
    })

    it('is told when the door is closed, and asks no more', async () => {
        await vi.advanceTimersByTimeAsync(10_000)
        server.open[0]?.answer({ code: 'UNAUTHORIZED' }, 401)
        await vi.advanceTimersByTimeAsync(120_000)
        expect(told).toEqual(['signedOut'])
        expect(server.all).toHaveLength(1)
    })

    it('asks for nothing of people', async () => {
        void registerVisitor(server.api)
        const { fetch_event_types: asked } = server.open[0]?.params ?? {}
        expect(asked).not.toContain('realm_user')
        expect(asked).not.toContain('presence')
    })
})
