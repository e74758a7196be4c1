import { describe, expect, it } from 'vitest'
import { recording } from './fixtures/recorded'
import { Realm } from './realm.svelte'
import { update } from './testing'
import { Unread } from './unread.svelte'

function unreadOf(realm: Realm): Unread {
    return new Unread({
        me: 2,
        isTopicMuted: (channelId, topic) => realm.isTopicMuted(channelId, topic),
        isSubscribed: (channelId) => realm.channels.get(channelId)?.isSubscribed ?? false,
    })
}

function plain(unread: Unread): unknown {
    const talks = [...unread.talks.values()].map((talk) => [talk.key, [...talk.ids].sort((a, b) => a - b)] as const)
    return { talks: Object.fromEntries(talks), mentions: [...unread.mentions].sort((a, b) => a - b) }
}

describe('unread counts', () => {
    it('after the events are what a new registration tells', () => {
        const { before, events, after } = recording()
        const realm = new Realm()
        realm.load(before)
        const kept = unreadOf(realm)
        kept.load(before.unread_msgs)
        expect(kept.total).toBe(before.unread_msgs.count)
        for (const event of events) {
            realm.apply(event)
            kept.apply(event)
        }
        const fresh = unreadOf(realm)
        fresh.load(after.unread_msgs)
        expect(plain(kept)).toEqual(plain(fresh))
        expect(kept.total).toBe(after.unread_msgs.count)
    })

    it('add up: the total is what the channels and conversations say', () => {
        const { after } = recording()
        const realm = new Realm()
        realm.load(after)
        const unread = unreadOf(realm)
        unread.load(after.unread_msgs)
        const channels = [...realm.channels.keys()].map((id) => unread.channel(id).loud)
        expect(channels.reduce((a, b) => a + b, 0) + unread.directCount).toBe(unread.total)
    })

    it('lose nothing and count nothing twice when the same is said again', () => {
        const { before, events } = recording()
        const realm = new Realm()
        realm.load(before)
        const [once, twice] = [unreadOf(realm), unreadOf(realm)]
        once.load(before.unread_msgs)
        twice.load(before.unread_msgs)
        for (const event of events) {
            once.apply(event)
            twice.apply(event)
            twice.apply(event)
        }
        expect(plain(twice)).toEqual(plain(once))
    })

    it('stay when a topic is renamed to the same letters in another case', () => {
        const { before } = recording()
        const realm = new Realm()
        realm.load(before)
        const unread = unreadOf(realm)
        const none = { pms: [], huddles: [], mentions: [] }
        unread.load({
            ...before.unread_msgs,
            ...none,
            streams: [{ stream_id: 1, topic: 'lunch', unread_message_ids: [7] }],
        })
        unread.apply(update({ message_ids: [7], stream_id: 1, subject: 'Lunch' }))
        const place = { kind: 'topic' as const, channelId: 1, topic: 'lunch' }
        expect(unread.of(place)).toBe(1)
        expect([...unread.talks.values()].map((talk) => talk.place)).toEqual([{ ...place, topic: 'Lunch' }])
    })
})
