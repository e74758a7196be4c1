/** What the filters of a search offer to choose from: those one is likely to mean first. */
import type { World } from '../data/world.svelte'
import { t } from '../words/words.svelte'
import type { Choice } from './SearchPick.svelte'

/** Oneself, those one wrote to lately, then everybody. */
export function personChoices({ me, realm, directs }: World): Choice[] {
    const lately = directs.all.flatMap(({ place }) => (place.kind === 'direct' ? place.userIds : []))
    const rest = [...realm.users.values()].sort((a, b) => a.full_name.localeCompare(b.full_name))
    return [...new Set([me, ...lately, ...rest.map((user) => user.user_id)])].flatMap((id) => {
        const user = realm.users.get(id)
        return user && !user.is_system_bot ? [{ key: String(id), text: user.full_name, userId: id }] : []
    })
}

/** One's own channels, then the others. */
export function channelChoices({ realm }: World): Choice[] {
    const channels = [...realm.channels.values()].sort(
        (a, b) => Number(b.isSubscribed) - Number(a.isSubscribed) || a.name.localeCompare(b.name),
    )
    return [
        ...channels.map(({ stream_id, name, color }) => ({ key: String(stream_id), text: name, colour: color })),
        { key: 'public', text: t('search.public.all') },
    ]
}

/** The newest first; asked for where they are not known yet. */
export function topicChoices({ realm, topics }: World, channelId: number): Choice[] {
    void topics.load(channelId)
    const colour = realm.channels.get(channelId)?.color
    return topics.of(channelId).map(({ name }) => ({ key: name, text: realm.topicName(name), colour }))
}
