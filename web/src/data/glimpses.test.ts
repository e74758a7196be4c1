import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Api } from './api'
import { Glimpses } from './glimpses.svelte'

const message = (id: number, content = `<p>said ${id}</p>`) => ({ id, sender_id: 7, content, timestamp: id })

function served(failures = 0) {
    const asked: number[][] = []
    const api = {
        get: (_path: string, { message_ids }: { message_ids: number[] }) => {
            asked.push(message_ids)
            if (asked.length <= failures) return Promise.resolve({ ok: false, error: { kind: 'network' } })
            return Promise.resolve({ ok: true, value: { messages: message_ids.map((id) => message(id)) } })
        },
    } as unknown as Api
    return { glimpses: new Glimpses(api), asked }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('lines that come into view together are asked for together, and each once', async () => {
    const { glimpses, asked } = served()
    glimpses.want(1)
    glimpses.want(2)
    await vi.advanceTimersByTimeAsync(50)
    glimpses.want(1)
    glimpses.want(3)
    await vi.advanceTimersByTimeAsync(50)
    expect(asked).toEqual([[1, 2], [3]])
    expect(glimpses.of(2)).toEqual({ senderId: 7, html: '<p>said 2</p>', timestamp: 2 })
})

test('very many are asked for in pieces', async () => {
    const { glimpses, asked } = served()
    for (let id = 1; id <= 250; id++) glimpses.want(id)
    await vi.advanceTimersByTimeAsync(200)
    expect(asked.map((ids) => ids.length)).toEqual([100, 100, 50])
})

test('what failed is asked for again after a while', async () => {
    const { glimpses, asked } = served(1)
    glimpses.want(1)
    await vi.advanceTimersByTimeAsync(50)
    expect(glimpses.of(1)).toBeUndefined()
    await vi.advanceTimersByTimeAsync(6000)
    expect(asked).toHaveLength(2)
    expect(glimpses.of(1)?.html).toBe('<p>said 1</p>')
})

test('a message that comes is known, one that is changed says what it says now, and a deleted one says nothing', () => {
    const { glimpses } = served()
    glimpses.apply({ type: 'message', id: 1, message: message(5), flags: [] } as never)
    glimpses.apply({ type: 'update_message', id: 2, message_id: 5, rendered_content: '<p>better</p>' } as never)
    expect(glimpses.of(5)?.html).toBe('<p>better</p>')
    glimpses.apply({ type: 'delete_message', id: 3, message_ids: [5] } as never)
    expect(glimpses.of(5)).toBeUndefined()
})

test('a message that is given to another author is by them', () => {
    const { glimpses } = served()
    glimpses.apply({ type: 'message', id: 1, message: message(5), flags: [] } as never)
    glimpses.apply({ type: 'message_sender', id: 2, message_ids: [4, 5], sender_id: 99 })
    expect(glimpses.of(5)?.senderId).toBe(99)
    expect(glimpses.of(4)).toBeUndefined()
})

test('only so many are remembered', () => {
    const { glimpses } = served()
    for (let id = 1; id <= 600; id++) {
        glimpses.apply({ type: 'message', id, message: message(id), flags: [] } as never)
    }
    expect(glimpses.of(100)).toBeUndefined()
    expect(glimpses.of(101)).toBeDefined()
})

test('after events were missed, whoever shows a message wants it again', async () => {
    const { glimpses, asked } = served()
    glimpses.want(1)
    await vi.advanceTimersByTimeAsync(50)
    const { turn } = glimpses
    glimpses.reset()
    expect(glimpses.turn).not.toBe(turn)
    glimpses.want(1)
    await vi.advanceTimersByTimeAsync(50)
    expect(asked).toEqual([[1], [1]])
})
