/** What a place is called, in a few words: for the tab. */
import type { Place } from '../data/place'
import type { World } from '../data/world.svelte'
import { t } from '../words/words.svelte'

export function placeName(place: Place, world: World): string {
    const { realm } = world
    switch (place.kind) {
        case 'topic':
            return `#${realm.channelName(place.channelId) ?? ''} › ${realm.topicName(place.topic)}`
        case 'channel':
            return `#${realm.channelName(place.channelId) ?? ''}`
        case 'direct':
            return place.userIds.map((id) => realm.userName(id)).join(', ')
        case 'feed':
            return t('place.feed')
        case 'directs':
            return t('place.directs')
        case 'mentioned':
            return t('place.mentioned')
        case 'starred':
            return t('place.starred')
        case 'search':
            return t('place.search')
        case 'inbox':
            return t('shell.inbox')
        default:
            return ''
    }
}
