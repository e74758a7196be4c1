import { describe, expect, it } from 'vitest'
import type { Api } from './api'
import type { ApiEvent, ApiPin } from './api-types'
import { Pins } from './pins.svelte'
import type { TalkPlace } from './place'

const TEA: TalkPlace = { kind: 'topic', channelId: 5, topic: 'Tea' }
const DIRECT: TalkPlace = { kind: 'direct', userIds: [8] }
const pinned = (message_id: number): ApiPin => ({ message_id, pinned_at: 100 + message_id })
const event = (more: object): ApiEvent => ({ id: 1, ...more }) as ApiEvent

/** Pins whose questions are answered by `answers`, one after the other. */
function stage(...answers: ((asked: Pins) => ApiPin[])[]) {
    const paths: string[] = []
    const api = {
        get: async (path: string) => {
            paths.push(path)
            return { ok: true, value: { pins: answers.shift()?.(pins) ?? [] } }
        },
    } as unknown as Api
    const pins: Pins = new Pins(api)
    pins.me = 7
    return { pins, paths }
}
const ids = (pins: Pins, place: TalkPlace) => pins.of(place).map((pin) => pin.message_id)

describe('pinned messages', () => {
    it('are asked for once, and kept current by events', async () => {
        const { pins, paths } = stage(() => [pinned(1)])
        await pins.load(TEA, 9)
        await pins.load(TEA, 9)
        expect(paths).toEqual(['messages/9/pins'])
        pins.apply(event({ type: 'pin', op: 'add', message_id: 2, pinned_at: 102, stream_id: 5, topic: 'tea' }))
        pins.apply(event({ type: 'pin', op: 'add', message_id: 3, pinned_at: 103, stream_id: 5, topic: 'coffee' }))
        expect([ids(pins, TEA), pins.has(TEA, 2), pins.has(TEA, 3)]).toEqual([[2, 1], true, false])
        pins.apply(event({ type: 'pin', op: 'remove', message_id: 1, stream_id: 5, topic: 'Tea' }))
        expect(ids(pins, TEA)).toEqual([2])
        pins.apply(event({ type: 'delete_message', message_type: 'stream', message_ids: [2] }))
        expect(ids(pins, TEA)).toEqual([])
    })

    it('of a direct conversation are known by who is in it', async () => {
        const { pins } = stage(() => [])
        await pins.load(DIRECT, 9)
        pins.apply(event({ type: 'pin', op: 'add', message_id: 2, pinned_at: 102, user_ids: [7, 8] }))
        expect(ids(pins, DIRECT)).toEqual([2])
    })

    it('are asked for again if one came while they were asked for', async () => {
        const { pins, paths } = stage(
            (asked) => {
                asked.apply(event({ type: 'pin', op: 'add', message_id: 2, pinned_at: 2, stream_id: 5, topic: 'tea' }))
                return [pinned(1)]
            },
            () => [pinned(2), pinned(1)],
        )
        await pins.load(TEA, 9)
        expect([paths.length, ids(pins, TEA)]).toEqual([2, [2, 1]])
    })

    it('are asked for again after messages were moved in that channel, and only there', async () => {
        const { pins } = stage(
            () => [pinned(1)],
            () => [pinned(3)],
        )
        await pins.load(TEA, 9)
        await pins.load(DIRECT, 10)
        pins.apply(event({ type: 'update_message', stream_id: 55, new_stream_id: 6, message_ids: [1] }))
        expect(pins.isLoaded(TEA)).toBe(true)
        pins.apply(event({ type: 'update_message', stream_id: 5, subject: 'x', message_ids: [1] }))
        expect([pins.isLoaded(TEA), pins.isLoaded(DIRECT)]).toEqual([false, true])
    })
})
