/** Where somebody new arrives: in a conversation, not in an empty inbox. */
import type { Place } from '../data/place'
import type { World } from '../data/world.svelte'

export function landingOf({ realm }: World): Place {
    const mine = [...realm.channels.values()]
        .filter((channel) => channel.isSubscribed && !channel.is_archived)
        .sort((a, b) => a.stream_id - b.stream_id)
    const defaults = realm.value('realm_default_streams', [])
    const first = mine.find((channel) => defaults.includes(channel.stream_id)) ?? mine[0]
    return first ? { kind: 'channel', channelId: first.stream_id } : { kind: 'inbox' }
}
