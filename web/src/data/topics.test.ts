import { expect, it } from 'vitest'
import { arrived, channelMessage, FakeServer, settled, update } from './testing'
import { Topics } from './topics.svelte'

const ASKED = 'users/me/1/topics'
const move = update({ stream_id: 1, orig_subject: 'lunch', subject: 'dinner', message_ids: [1] })
const names = (topics: Topics) => topics.of(1).map((topic) => [topic.name, topic.max_id])

function stage() {
    const server = new FakeServer()
    const topics = new Topics(server.api)
    void topics.load(1)
    return { server, topics }
}

it('lists topics with the newest first, and what comes while they are asked for', async () => {
    const { server, topics } = stage()
    const request = await server.next(ASKED)
    topics.apply(arrived(1, channelMessage(9, { subject: 'tea' })))
    topics.apply(arrived(2, channelMessage(5, { subject: 'Lunch' })))
    request.answer({ topics: [{ name: 'lunch', max_id: 7 }] })
    await settled()
    expect(names(topics)).toEqual([
        ['tea', 9],
        ['lunch', 7],
    ])
    expect(server.all.length).toBe(1)
})

it('goes by the last answer asked for, whichever comes first', async () => {
    const { server, topics } = stage()
    ;(await server.next(ASKED)).answer({ topics: [{ name: 'lunch', max_id: 7 }] })
    await settled()
    topics.apply(move)
    topics.apply(move)
    const [older, newer] = server.open
    newer?.answer({ topics: [{ name: 'dinner', max_id: 7 }] })
    await settled()
    older?.answer({ topics: [{ name: 'lunch', max_id: 7 }] })
    await settled()
    expect(names(topics)).toEqual([['dinner', 7]])
})

it('keeps what arrives while the list is asked for again', async () => {
    const { server, topics } = stage()
    ;(await server.next(ASKED)).answer({ topics: [{ name: 'lunch', max_id: 7 }] })
    await settled()
    topics.apply(move)
    topics.apply(arrived(2, channelMessage(9, { subject: 'tea' })))
    ;(await server.next(ASKED)).answer({ topics: [{ name: 'dinner', max_id: 7 }] })
    await settled()
    expect(names(topics)).toEqual([
        ['tea', 9],
        ['dinner', 7],
    ])
})

it('asks again after a new registration, also for what was just being asked for', async () => {
    const { server, topics } = stage()
    const old = await server.next(ASKED)
    topics.reset()
    const fresh = server.open.find((request) => request !== old)
    old.answer({ topics: [{ name: 'old', max_id: 1 }] })
    fresh?.answer({ topics: [{ name: 'new', max_id: 2 }] })
    await settled()
    expect(names(topics)).toEqual([['new', 2]])
})
