import { describe, expect, it, vi } from 'vitest'
import { recording } from './fixtures/recorded'
import type { Message } from './message.svelte'
import { changedBy, isAboutMessages, Messages } from './messages.svelte'
import { arrival, arrive, found, ids, opened, stage } from './talk-testing'
import { channelMessage, FakeServer, settled, update } from './testing'

describe('messages', () => {
    it('after the recorded events are what the server then gives', async () => {
        const { events, messages: after } = recording()
        const server = new FakeServer()
        const messages = new Messages(server.api)
        for (const event of events) messages.apply(event)
        const arrived = new Set(events.flatMap((event) => (event.type === 'message' ? event.message.id : [])))
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
        for (const event of events.filter(isAboutMessages)) {
            for (const message of messages) {
                const once = changedBy(message, event)
                expect(changedBy(once, event)).toEqual(once)
            }
        }
    })

    it('that were edited show the new text, not what a search marked in the old one', () => {
        const marked = channelMessage(1, { match_content: '<p><b>old</b></p>', match_subject: 'lunch' })
        const after = changedBy(marked, update({ message_ids: [1], rendered_content: '<p>new</p>' }))
        expect([after.content, after.match_content, after.match_subject]).toEqual(['<p>new</p>', undefined, undefined])
    })

    it('that were given to another author are by them, and no longer have the name of the old one', () => {
        const event = { id: 1, type: 'message_sender' as const, message_ids: [1], sender_id: 99 }
        const [given, other] = [1, 2].map((id) => changedBy(channelMessage(id), event))
        expect([given?.sender_id, given?.sender_full_name, other?.sender_full_name]).toEqual([99, '', 'Kofi'])
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

describe('a store of many messages', () => {
    const aTurn = () => new Promise((resolve) => setTimeout(resolve))

    it('lets the messages go that nobody shows', async () => {
        const { messages } = await opened([1])
        arrive(messages, 2, 900, 'elsewhere')
        await aTurn()
        expect(messages.size).toBeLessThanOrEqual(600)
        expect([1, 2, 900].map((id) => messages.get(id) !== undefined)).toEqual([true, false, true])
    })

    it('keeps a message that is being changed', async () => {
        const { messages } = await opened([1])
        arrive(messages, 2, 2, 'elsewhere')
        const edited = messages.get(2)
        if (edited) edited.isKept = true
        arrive(messages, 3, 900, 'elsewhere')
        await aTurn()
        expect([2, 3].map((id) => messages.get(id) !== undefined)).toEqual([true, false])
    })

    it('keeps what waits for a fetch, and lets go once that has ended', async () => {
        const { server, messages, talk } = await opened([1], { newest: false })
        void talk.loadNewer()
        const request = await server.next('messages')
        messages.apply(arrival(channelMessage(3)))
        arrive(messages, 4, 900, 'elsewhere')
        await aTurn()
        request.answer(found([channelMessage(2)]))
        await settled()
        expect(ids(talk)).toEqual([1, 2, 3])
        expect(talk.rows[2]).toBe(messages.get(3))
        await aTurn()
        expect(messages.size).toBeLessThanOrEqual(600)
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
        arrive(messages, 1, 801)
        await aTurn()
        expect(looked).toHaveBeenCalledTimes(1)
        arrive(messages, 802, 990)
        await aTurn()
        expect(looked).toHaveBeenCalledTimes(1)
        arrive(messages, 991, 1_002)
        await aTurn()
        expect(looked).toHaveBeenCalledTimes(2)
    })
})
