/** The inbox: what is unread, by conversation: first where I am mentioned, then the direct ones, then channel by channel (pure). */
import type { Id } from '../data/api-types'
import type { Channel } from '../data/realm.svelte'
import type { UnreadTalk } from '../data/unread.svelte'
import type { World } from '../data/world.svelte'

export interface InboxChannel {
    channel: Channel
    topics: UnreadTalk[]
    count: number
}

export interface InboxView {
    /** Topics with a mention of me, of whatever channel; they are in no other list. */
    mentions: UnreadTalk[]
    directs: UnreadTalk[]
    channels: InboxChannel[]
}

/** The conversations of the inbox as they are listed. */
export function linesOf({ mentions, directs, channels }: InboxView): UnreadTalk[] {
    return [...mentions, ...directs, ...channels.flatMap((each) => each.topics)]
}

/** Of somebody. */
export function inboxFor({ unread, realm }: World): InboxView {
    return inboxOf(
        unread.talks.values(),
        realm.channels,
        (talk) => unread.counts(talk),
        (talk) => unread.hasMention(talk),
    )
}

/** `counts`: whether a conversation is not muted. The newest comes first in each list. */
export function inboxOf(
    talks: Iterable<UnreadTalk>,
    channels: ReadonlyMap<Id, Channel>,
    counts: (talk: UnreadTalk) => boolean,
    hasMention: (talk: UnreadTalk) => boolean,
): InboxView {
    const mentions: UnreadTalk[] = []
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
        if (hasMention(talk)) {
            mentions.push(talk)
            continue
        }
        const entry = byChannel.get(channel.stream_id) ?? { channel, topics: [], count: 0 }
        entry.topics.push(talk)
        entry.count += talk.count
        byChannel.set(channel.stream_id, entry)
    }
    const order = (a: UnreadTalk, b: UnreadTalk) => b.newest - a.newest
    mentions.sort(order)
    directs.sort(order)
    const found = [...byChannel.values()]
    for (const entry of found) entry.topics.sort(order)
    found.sort(
        (a, b) =>
            Number(b.channel.pin_to_top) - Number(a.channel.pin_to_top) || a.channel.name.localeCompare(b.channel.name),
    )
    return { mentions, directs, channels: found }
}
