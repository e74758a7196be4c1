import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { memoryKeep, type Keep } from './keep'
import { Outbox, type SendPlace } from './outbox.svelte'
import { arrived, channelMessage, FakeServer, settled } from './testing'

const LUNCH: SendPlace = { kind: 'topic', channelId: 1, topic: 'lunch' }

function stage(keep: Keep = memoryKeep()) {
    const server = new FakeServer()
    const outbox = new Outbox(server.api, keep)
    outbox.queueId = () => 'queue-1'
    outbox.load(2)
    return { server, outbox, keep }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a message that is sent', () => {
    it('is shown at once, and gives way to its event', async () => {
        const { server, outbox } = stage()
        const item = outbox.send(LUNCH, 'Hello')
        expect(outbox.of(LUNCH)).toEqual([item])
        const request = await server.next('messages')
        expect(request.headers['Idempotency-Key']).toBe(item.localId)
        expect(request.params).toMatchObject({ to: 1, topic: 'lunch', queue_id: 'queue-1', local_id: item.localId })
        outbox.apply(arrived(1, channelMessage(7), { local_message_id: item.localId }))
        expect(outbox.all).toEqual([])
        request.answer({ id: 7 })
        await settled()
        expect(outbox.all).toEqual([])
    })

    it('stays until its message is here when the answer comes before the event', async () => {
        const { server, outbox } = stage()
        outbox.send(LUNCH, 'Hello')
        ;(await server.next('messages')).answer({ id: 7 })
        await settled()
        expect(outbox.all.map((item) => item.state)).toEqual(['sent'])
        outbox.apply(arrived(1, channelMessage(8)))
        expect(outbox.all.length).toBe(1)
        outbox.apply(arrived(2, channelMessage(7)))
        expect(outbox.all).toEqual([])
    })

    it('goes in the order of writing, one after the other', async () => {
        const { server, outbox } = stage()
        outbox.send(LUNCH, 'first')
        vi.advanceTimersByTime(1)
        outbox.send(LUNCH, 'second')
        const request = await server.next('messages')
        expect(server.open.length).toBe(1)
        expect(request.params['content']).toBe('first')
        request.answer({ id: 7 })
        expect((await server.next('messages')).params['content']).toBe('second')
    })

    it('that is refused says why, lets others pass, and can be tried again', async () => {
        const { server, outbox } = stage()
        const item = outbox.send(LUNCH, 'x')
        vi.advanceTimersByTime(1)
        outbox.send(LUNCH, 'next')
        ;(await server.next('messages')).answer({ msg: 'Not here, please.', code: 'BAD_REQUEST' }, 400)
        await settled()
        expect([item.state, item.error]).toEqual(['failed', 'Not here, please.'])
        ;(await server.next('messages')).answer({ id: 8 })
        await settled()
        item.retry()
        const again = await server.next('messages')
        expect(again.headers['Idempotency-Key']).toBe(item.localId)
        again.answer({ id: 9 })
        await settled()
        expect(item.state).toBe('sent')
    })

    it('waits while nobody answers, with the same key, and survives a reload', async () => {
        const { server, outbox, keep } = stage()
        const item = outbox.send(LUNCH, 'kept')
        ;(await server.next('messages')).fail()
        await settled()
        expect(item.state).toBe('waiting')
        vi.advanceTimersByTime(6000)
        ;(await server.next('messages')).fail()
        const later = stage(keep)
        const request = await later.server.next('messages')
        expect(request.headers['Idempotency-Key']).toBe(item.localId)
        request.answer({ id: 7 })
        await settled()
        expect(stage(keep).outbox.all).toEqual([])
    })

    it('that was thrown away does not come back', async () => {
        const { server, outbox, keep } = stage()
        const item = outbox.send(LUNCH, 'oh no')
        ;(await server.next('messages')).fail()
        await settled()
        item.discard()
        expect(outbox.all).toEqual([])
        expect(stage(keep).outbox.all).toEqual([])
    })

    it('is fetched where no event tells of it', async () => {
        const { server, outbox } = stage()
        outbox.isTold = (place) => place.kind === 'direct'
        const brought: number[] = []
        outbox.bring = (id) => {
            brought.push(id)
            outbox.found([id])
            return Promise.resolve()
        }
        outbox.send(LUNCH, 'Hello')
        ;(await server.next('messages')).answer({ id: 7 })
        await settled()
        expect([brought, outbox.all]).toEqual([[7], []])
    })

    it('is not shown twice when a fetch brings it before its event', async () => {
        const { server, outbox } = stage()
        outbox.send(LUNCH, 'Hello')
        ;(await server.next('messages')).answer({ id: 7 })
        await settled()
        outbox.found([6])
        expect(outbox.all.length).toBe(1)
        outbox.found([6, 7])
        expect(outbox.all).toEqual([])
    })

    it('and was not confirmed for a day is sent again only by hand, as it may have arrived', async () => {
        const { server, outbox, keep } = stage()
        outbox.send(LUNCH, 'maybe')
        ;(await server.next('messages')).fail()
        await settled()
        outbox.stop()
        vi.setSystemTime(Date.now() + 23.5 * 3600 * 1000)
        const later = stage(keep)
        await settled()
        expect(later.server.all).toEqual([])
        const [item] = later.outbox.all
        expect([item?.state, item?.isUnconfirmed]).toEqual(['failed', true])
        item?.retry()
        ;(await later.server.next('messages')).answer({ id: 7 })
    })

    it('is among all direct messages if it is one', () => {
        const { outbox } = stage()
        outbox.send(LUNCH, 'Hello')
        const item = outbox.send({ kind: 'direct', userIds: [5] }, 'Hello you')
        expect(outbox.of({ kind: 'directs' })).toEqual([item])
    })
})
