/** Whether a new message deserves to be announced: by what I set for everything, for the channel, and by the topic. Pure. */
import type { ApiNewMessage, Id } from '../data/api-types'
import { POLICY, type Realm } from '../data/realm.svelte'

export type Why = 'direct' | 'mention' | 'wildcard' | 'followed' | 'channel' | 'alertWord'

/** Why it concerns me; null if it does not, was mine, or is read already. */
export function whyOf(message: ApiNewMessage, flags: readonly string[], realm: Realm): Why | null {
    if (message.sender_id === realm.me || flags.includes('read')) return null
    if (realm.mutedUsers.has(message.sender_id)) return null
    if (message.type === 'private') return 'direct'
    if (flags.includes('mentioned') || flags.includes('group_mentioned')) return 'mention'
    const { stream_id, subject } = message
    if (realm.policyOf(stream_id, subject) === POLICY.muted) return null
    const isFollowed = realm.policyOf(stream_id, subject) === POLICY.followed
    const isWildcard = flags.includes('stream_wildcard_mentioned') || flags.includes('topic_wildcard_mentioned')
    if (isWildcard && wantsWildcard(stream_id, isFollowed, realm)) return 'wildcard'
    if (isFollowed) return 'followed'
    if (flags.includes('has_alert_word')) return 'alertWord'
    return realm.isTopicMuted(stream_id, subject) ? null : 'channel'
}

function wantsWildcard(channelId: Id, isFollowed: boolean, realm: Realm): boolean {
    if (isFollowed && realm.settings.enable_followed_topic_wildcard_mentions_notify) return true
    return realm.channels.get(channelId)?.wildcard_mentions_notify ?? realm.settings.wildcard_mentions_notify
}

export function showsOnDesktop(why: Why, message: ApiNewMessage, realm: Realm): boolean {
    const { settings } = realm
    return wanted(why, settings.enable_desktop_notifications, {
        followed: settings.enable_followed_topic_desktop_notifications,
        channel: ownChoice(message, realm, 'desktop_notifications') ?? settings.enable_stream_desktop_notifications,
    })
}

export function makesSound(why: Why, message: ApiNewMessage, realm: Realm): boolean {
    const { settings } = realm
    if (settings.notification_sound === 'none') return false
    return wanted(why, settings.enable_sounds, {
        followed: settings.enable_followed_topic_audible_notifications,
        channel: ownChoice(message, realm, 'audible_notifications') ?? settings.enable_stream_audible_notifications,
    })
}

/** Direct messages and mentions by one switch; a followed topic and a channel by their own. */
function wanted(why: Why, personal: boolean, own: { followed: boolean; channel: boolean }): boolean {
    if (why === 'channel') return own.channel
    if (why === 'followed') return own.followed || own.channel
    return personal
}

function ownChoice(message: ApiNewMessage, realm: Realm, name: 'desktop_notifications' | 'audible_notifications') {
    return message.type === 'stream' ? realm.channels.get(message.stream_id)?.[name] : null
}
