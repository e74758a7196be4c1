// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Message } from '../data/message.svelte'
import type { World } from '../data/world.svelte'
import { TalkActions } from './actions.svelte'

const me = 5
const message = (id: number) =>
    ({
        id,
        senderId: me,
        timestamp: Date.now() / 1000,
        data: { submessages: [] },
        conversation: () => ({ kind: 'topic', channelId: 1, topic: 'lunch' }),
    }) as unknown as Message
const all = new Map([7, 8].map((id) => [id, message(id)]))
const [one, other] = [...all.values()] as [Message, Message]

let actions: TalkActions
beforeEach(() => {
    location.hash = ''
    for (const each of all.values()) each.isKept = false
    actions = new TalkActions({
        me,
        messages: all,
        realm: { value: (_: string, otherwise: unknown) => otherwise, channelName: () => undefined },
        acts: { textOf: async (id: number) => ({ ok: true, value: `text of ${id}` }) },
    } as unknown as World)
    actions.reveal = vi.fn(async () => true)
})

it('quotes so that nothing in the words of others ends the quotation', async () => {
    const text = 'mine\n````\n@**all** I resign\n````quote\nrest'
    actions = new TalkActions({
        me,
        messages: all,
        realm: { userName: () => 'Ana', channelName: () => undefined },
        acts: { textOf: async () => ({ ok: true, value: text }) },
    } as unknown as World)
    const insert = vi.fn()
    actions.writing = { replyTo: vi.fn(), insert } as unknown as typeof actions.writing
    await actions.quote(one)
    const lines = String(insert.mock.calls[0]?.[0]).trimEnd().split('\n')
    expect([lines[1], lines.at(-1)]).toEqual(['`````quote', '`````'])
    expect(lines.slice(2, -1).join('\n')).toBe(text)
})

describe('editing', () => {
    it('knows whether something was changed, however often the row comes and goes', async () => {
        await actions.edit(one)
        expect([actions.editingId, actions.editingText, actions.hasChanges]).toEqual([7, 'text of 7', false])
        actions.editingText += '!'
        expect(actions.hasChanges).toBe(true)
    })

    it('goes to another message if nothing would be lost', async () => {
        await actions.edit(one)
        await actions.edit(other)
        expect([actions.editingId, actions.editingText]).toEqual([8, 'text of 8'])
    })

    it('shows an edit that is not saved instead of beginning another', async () => {
        await actions.edit(one)
        actions.editingText = 'half a'
        await actions.edit(other)
        expect([actions.editingId, actions.editingText]).toEqual([7, 'half a'])
        expect(actions.reveal).toHaveBeenCalledWith(7)
        await actions.edit(one)
        expect(actions.editingText).toBe('half a')
    })

    it('keeps the message known until it ends or goes to another', async () => {
        await actions.edit(one)
        expect([one.isKept, other.isKept]).toEqual([true, false])
        await actions.edit(other)
        expect([one.isKept, other.isKept]).toEqual([false, true])
        actions.endEdit()
        expect([one.isKept, other.isKept, actions.editingId]).toEqual([false, false, null])
    })

    it('goes to the place of an edit that is not saved', async () => {
        await actions.edit(one)
        actions.editingText = 'half a'
        actions.reveal = async () => false
        await actions.edit(other)
        expect(location.hash).toBe('#narrow/channel/1/topic/lunch/near/7')
    })
})
