/** Where somebody new arrives: in a conversation, not in an empty inbox. */
import type { Id } from '../data/api-types'
import type { Place } from '../data/place'
import type { World } from '../data/world.svelte'

/** As far as it is known now: `findLanding` asks for the rest. */
export function landingOf(world: World): Place {
    const channelId = firstChannel(world)
    if (channelId === undefined) return { kind: 'inbox' }
    // In a new organization this is the topic of the greeting, which asks for an answer right there.
    const [only, another] = world.topics.of(channelId)
    return only && !another ? { kind: 'topic', channelId, topic: only.name } : { kind: 'channel', channelId }
}

export async function findLanding(world: World): Promise<Place> {
    const channelId = firstChannel(world)
    if (channelId !== undefined) await world.topics.load(channelId)
    return landingOf(world)
}

function firstChannel({ realm }: World): Id | undefined {
    const mine = [...realm.channels.values()]
        .filter((channel) => channel.isSubscribed && !channel.is_archived)
        .sort((a, b) => a.stream_id - b.stream_id)
    const defaults = realm.value('realm_default_streams', [])
    return (mine.find((channel) => defaults.includes(channel.stream_id)) ?? mine[0])?.stream_id
}
