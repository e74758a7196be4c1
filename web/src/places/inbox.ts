/** The inbox: what is unread, by conversation, the direct ones first and then channel by channel (pure). */
import type { Id } from '../data/api-types'
import type { Channel } from '../data/realm.svelte'
import type { UnreadTalk } from '../data/unread.svelte'

export interface InboxChannel {
    channel: Channel
    topics: UnreadTalk[]
    count: number
}

export interface InboxView {
    directs: UnreadTalk[]
    channels: InboxChannel[]
}

/** `counts`: whether a conversation is not muted. The newest comes first in each list, and mentions before everything. */
export function inboxOf(
    talks: Iterable<UnreadTalk>,
    channels: ReadonlyMap<Id, Channel>,
    counts: (talk: UnreadTalk) => boolean,
    hasMention: (talk: UnreadTalk) => boolean,
): InboxView {
    const directs: UnreadTalk[] = []
    const byChannel = new Map<Id, InboxChannel>()
    for (const talk of talks) {
        if (!counts(talk)) continue
        if (talk.place.kind !== 'topic') {
            directs.push(talk)
            continue
        }
        const channel = channels.get(talk.place.channelId)
        if (!channel) continue
        const entry = byChannel.get(channel.stream_id) ?? { channel, topics: [], count: 0 }
        entry.topics.push(talk)
        entry.count += talk.count
        byChannel.set(channel.stream_id, entry)
    }
    const order = (a: UnreadTalk, b: UnreadTalk) => Number(hasMention(b)) - Number(hasMention(a)) || b.newest - a.newest
    directs.sort((a, b) => b.newest - a.newest)
    const found = [...byChannel.values()]
    for (const entry of found) entry.topics.sort(order)
    found.sort(
        (a, b) =>
            Number(b.channel.pin_to_top) - Number(a.channel.pin_to_top) || a.channel.name.localeCompare(b.channel.name),
    )
    return { directs, channels: found }
}
