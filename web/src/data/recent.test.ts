import { expect, test } from 'vitest'
import type { Api } from './api'
import { Recent } from './recent.svelte'

const message = (id: number, subject: string, sender_id: number) => ({
    id,
    subject,
    sender_id,
    type: 'stream',
    stream_id: 1,
    timestamp: id,
})

function served(...answers: unknown[]) {
    const asked: unknown[] = []
    const api = {
        get: (_path: string, params: unknown) => {
            asked.push(params)
            return Promise.resolve({ ok: true, value: { messages: answers.shift() } })
        },
    } as unknown as Api
    return { api, asked }
}

test('conversations are listed with the newest first, and with who spoke last', async () => {
    const { api } = served([message(1, 'a', 7), message(2, 'b', 8), message(3, 'A', 9), message(4, 'a', 7)])
    const recent = new Recent(api)
    await recent.look(5)
    expect(recent.all.map((each) => [each.newest, each.senders])).toEqual([
        [4, [7, 9]],
        [2, [8]],
    ])
    recent.apply({ type: 'message', id: 1, message: message(5, 'b', 7) } as never)
    expect(recent.all.map((each) => [each.newest, each.senders])).toEqual([
        [5, [7, 8]],
        [4, [7, 9]],
    ])
})

test('after a move the list is asked for again when somebody looks, as only the server knows what is left of a topic', async () => {
    const { api, asked } = served([message(1, 'a', 7)], [message(1, 'b', 7)])
    const recent = new Recent(api)
    await recent.look(5)
    recent.apply({ type: 'update_message', id: 2, subject: 'b', message_ids: [1] } as never)
    expect(recent.state).toBe('unknown')
    await recent.look(5)
    expect(asked).toHaveLength(2)
    expect(recent.all.map((each) => each.place)).toEqual([{ kind: 'topic', channelId: 1, topic: 'b' }])
})

test('while nobody looks nothing is asked for, however much is moved and deleted', async () => {
    const { api, asked } = served([message(1, 'a', 7)])
    const recent = new Recent(api)
    await recent.look(5)
    recent.apply({ type: 'delete_message', id: 2, message_ids: [1] } as never)
    recent.apply({ type: 'message', id: 3, message: message(5, 'b', 7) } as never)
    recent.apply({ type: 'delete_message', id: 4, message_ids: [2] } as never)
    recent.reset()
    await new Promise((resolve) => setTimeout(resolve))
    expect(asked).toHaveLength(1)
    expect(recent.all.map((each) => each.newest)).toEqual([5, 1])
})

test('nothing is asked for or kept before somebody looks', () => {
    const { api, asked } = served()
    const recent = new Recent(api)
    recent.apply({ type: 'message', id: 1, message: message(5, 'b', 7) } as never)
    recent.reset()
    expect(asked).toHaveLength(0)
    expect(recent.all).toEqual([])
})

test('a message that comes while the list is fetched is in it, and an answer from before a move is not used', async () => {
    const waiting: ((messages: unknown[]) => void)[] = []
    const get = () => new Promise((resolve) => waiting.push((messages) => resolve({ ok: true, value: { messages } })))
    const recent = new Recent({ get } as unknown as Api)
    const first = recent.look(5)
    recent.apply({ type: 'message', id: 1, message: message(9, 'new', 7) } as never)
    recent.apply({ type: 'update_message', id: 2, subject: 'b', message_ids: [1] } as never)
    void recent.look(5)
    recent.apply({ type: 'message', id: 3, message: message(10, 'newer', 7) } as never)
    waiting[0]?.([message(1, 'old', 7)])
    await first
    waiting[1]?.([message(1, 'b', 7), message(9, 'new', 7)])
    await new Promise((resolve) => setTimeout(resolve))
    expect(recent.state).toBe('ready')
    expect(recent.all.map((each) => each.newest)).toEqual([10, 9, 1])
    expect(recent.all.at(-1)?.place).toMatchObject({ topic: 'b' })
})
