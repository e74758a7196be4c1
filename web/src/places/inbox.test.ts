import { expect, test } from 'vitest'
import type { TalkPlace } from '../data/place'
import type { Channel } from '../data/realm.svelte'
import type { UnreadTalk } from '../data/unread.svelte'
import { inboxOf, linesOf } from './inbox'

function talk(place: TalkPlace, newest: number, count = 1): UnreadTalk {
    return { place, newest, count } as UnreadTalk
}
const channel = (stream_id: number, name: string, pin_to_top = false): [number, Channel] => [
    stream_id,
    { stream_id, name, pin_to_top } as Channel,
]
const channels = new Map([channel(1, 'news'), channel(2, 'design'), channel(3, 'top', true)])

test('direct talks come first, then pinned channels, then the others by name, each with its newest topic first', () => {
    const talks = [
        talk({ kind: 'topic', channelId: 1, topic: 'a' }, 5, 2),
        talk({ kind: 'topic', channelId: 1, topic: 'b' }, 9),
        talk({ kind: 'topic', channelId: 2, topic: 'c' }, 7),
        talk({ kind: 'topic', channelId: 3, topic: 'd' }, 1),
        talk({ kind: 'direct', userIds: [4] }, 3),
        talk({ kind: 'direct', userIds: [5] }, 6),
    ]
    const view = inboxOf(
        talks,
        channels,
        () => true,
        () => false,
    )
    expect(view.directs.map((each) => each.newest)).toEqual([6, 3])
    expect(view.channels.map((each) => [each.channel.name, each.count, each.topics.map((one) => one.newest)])).toEqual([
        ['top', 1, [1]],
        ['design', 1, [7]],
        ['news', 3, [9, 5]],
    ])
})

test('a topic with a mention comes before everything, and what is muted does not come', () => {
    const old = talk({ kind: 'topic', channelId: 1, topic: 'a' }, 5)
    const muted = talk({ kind: 'topic', channelId: 1, topic: 'c' }, 99)
    const talks = [old, talk({ kind: 'topic', channelId: 1, topic: 'b' }, 9), muted]
    const view = inboxOf(
        talks,
        channels,
        (each) => each !== muted,
        (each) => each === old,
    )
    expect(view.mentions).toEqual([old])
    expect(view.channels[0]?.topics.map((each) => each.newest)).toEqual([9])
    expect(linesOf(view).map((each) => each.newest)).toEqual([5, 9])
})

test('what belongs to a channel that is not known is left out', () => {
    expect(
        inboxOf(
            [talk({ kind: 'topic', channelId: 8, topic: 'a' }, 5)],
            channels,
            () => true,
            () => false,
        ).channels,
    ).toEqual([])
})
