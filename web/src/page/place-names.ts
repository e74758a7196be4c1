/** What a place is called, in a few words: for the tab, and for the head of a talk. */
import type { Place } from '../data/place'
import type { World } from '../data/world.svelte'
import { t, type Word } from '../words/words.svelte'

const VIEWS: Partial<Record<Place['kind'], Word>> = {
    feed: 'place.feed',
    directs: 'place.directs',
    mentioned: 'place.mentioned',
    starred: 'place.starred',
    search: 'place.search',
    inbox: 'places.inbox',
    recent: 'places.recent',
    drafts: 'places.drafts',
    scheduled: 'places.scheduled',
    settings: 'places.settings',
    organization: 'places.organization',
    channels: 'places.channels',
}

export function placeName(place: Place, world: World): string {
    const { realm } = world
    switch (place.kind) {
        case 'topic':
            return `#${realm.channelName(place.channelId) ?? ''} › ${realm.topicName(place.topic)}`
        case 'channel':
            return `#${realm.channelName(place.channelId) ?? ''}`
        case 'direct':
            return place.userIds.map((id) => realm.userName(id)).join(', ')
        default:
            return viewName(place.kind)
    }
}

/** The name of a place that every organization has; empty for others. */
export function viewName(kind: Place['kind']): string {
    const word = VIEWS[kind]
    return word ? t(word) : ''
}
