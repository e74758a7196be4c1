/** My own settings as tables: which switches a page shows, and the words for them. */
import type { Word } from '../words/words.svelte'
import type { Settings } from './edited'

export type Switch = readonly [setting: keyof Settings, word: Word]

export const NOTIFICATIONS: Record<'direct' | 'channels' | 'followed' | 'account', readonly Switch[]> = {
    direct: [
        ['enable_desktop_notifications', 'own.desktop'],
        ['enable_sounds', 'own.sounds'],
        ['enable_offline_push_notifications', 'own.push'],
        ['enable_offline_email_notifications', 'own.email'],
        ['wildcard_mentions_notify', 'own.wildcards'],
        ['pm_content_in_desktop_notifications', 'own.content'],
        ['message_content_in_email_notifications', 'own.mailcontent'],
        ['enable_digest_emails', 'own.digest'],
    ],
    channels: [
        ['enable_stream_desktop_notifications', 'own.desktop'],
        ['enable_stream_audible_notifications', 'own.sounds'],
        ['enable_stream_push_notifications', 'own.push'],
        ['enable_stream_email_notifications', 'own.email'],
    ],
    followed: [
        ['enable_followed_topic_desktop_notifications', 'own.desktop'],
        ['enable_followed_topic_audible_notifications', 'own.sounds'],
        ['enable_followed_topic_push_notifications', 'own.push'],
        ['enable_followed_topic_email_notifications', 'own.email'],
        ['enable_followed_topic_wildcard_mentions_notify', 'own.wildcards'],
    ],
    account: [['enable_login_emails', 'own.loginMails']],
}

export const PRIVACY: readonly Switch[] = [
    ['presence_enabled', 'own.presence'],
    ['send_read_receipts', 'own.receipts'],
    ['send_private_typing_notifications', 'own.typing.direct'],
    ['send_stream_typing_notifications', 'own.typing.channel'],
    ['receives_typing_notifications', 'own.typing.see'],
    ['enable_drafts_synchronization', 'own.drafts'],
]

export const CONSENT: readonly Switch[] = [['allow_private_data_export', 'data.consent']]

export const LOOK: readonly Switch[] = [['fluid_layout_width', 'own.wide']]

export const WRITING: readonly Switch[] = [
    ['enter_sends', 'own.enter'],
    ['translate_emoticons', 'own.emoticons'],
    ['twenty_four_hour_time', 'own.24h'],
    ['display_emoji_reaction_users', 'own.reactors'],
]
