// @vitest-environment happy-dom
import { describe, expect, it } from 'vitest'
import { recording } from '../data/fixtures/recorded'
import { Realm } from '../data/realm.svelte'
import { channelMessage } from '../data/testing'
import type { ApiMessage, EventOf } from '../data/api-types'
import type { World } from '../data/world.svelte'
import { iconOf, titleOf } from './badge'
import { plainText } from '../page/plain-text'
import { makesSound, showsOnDesktop, whyOf } from './deserves'
import { badgeCount } from './start.svelte'

function realmOf(): Realm {
    const realm = new Realm()
    realm.load(recording().before)
    return realm
}

const direct = { ...channelMessage(1), type: 'private', display_recipient: [] } as unknown as ApiMessage
const policy = (visibility_policy: 1 | 3): EventOf<'user_topic'> => ({
    id: 1,
    type: 'user_topic',
    stream_id: 1,
    topic_name: 'lunch',
    last_updated: 0,
    visibility_policy,
})

describe('a new message', () => {
    it('is announced when it is direct or mentions me', () => {
        const realm = realmOf()
        expect(whyOf(direct, [], realm)).toBe('direct')
        expect(whyOf(channelMessage(1), ['mentioned'], realm)).toBe('mention')
        expect(showsOnDesktop('direct', direct, realm)).toBe(true)
        expect(makesSound('mention', channelMessage(1), realm)).toBe(true)
    })

    it('is not announced when it is mine, read, or from somebody I muted', () => {
        const realm = realmOf()
        expect(whyOf({ ...direct, sender_id: realm.me }, [], realm)).toBeNull()
        expect(whyOf(direct, ['read'], realm)).toBeNull()
        realm.apply({ id: 1, type: 'muted_users', muted_users: [{ id: 5, timestamp: 0 }] })
        expect(whyOf(direct, [], realm)).toBeNull()
    })

    it('in a channel follows the topic, the channel, and the setting for all', () => {
        const realm = realmOf()
        const message = channelMessage(1)
        expect(whyOf(message, [], realm)).toBe('channel')
        expect(showsOnDesktop('channel', message, realm)).toBe(false)
        realm.apply({
            id: 1,
            type: 'subscription',
            op: 'update',
            stream_id: 1,
            property: 'desktop_notifications',
            value: true,
        })
        expect(showsOnDesktop('channel', message, realm)).toBe(true)
        realm.apply(policy(1))
        expect(whyOf(message, [], realm)).toBeNull()
        realm.apply(policy(3))
        expect(whyOf(message, [], realm)).toBe('followed')
        expect(makesSound('followed', message, realm)).toBe(true)
    })

    it('that calls everybody follows the setting for that', () => {
        const realm = realmOf()
        expect(whyOf(channelMessage(1), ['stream_wildcard_mentioned'], realm)).toBe('wildcard')
        realm.apply({ id: 1, type: 'user_settings', op: 'update', property: 'wildcard_mentions_notify', value: false })
        expect(whyOf(channelMessage(1), ['stream_wildcard_mentioned'], realm)).toBe('channel')
    })

    it('is shown and heard as the switches of its kind say', () => {
        const message = channelMessage(1)
        const kinds = {
            direct: ['enable_desktop_notifications', 'enable_sounds'],
            followed: ['enable_followed_topic_desktop_notifications', 'enable_followed_topic_audible_notifications'],
            channel: ['enable_stream_desktop_notifications', 'enable_stream_audible_notifications'],
        } as const
        for (const [why, switches] of Object.entries(kinds)) {
            const realm = realmOf()
            const told = () => [
                showsOnDesktop(why as keyof typeof kinds, message, realm),
                makesSound(why as keyof typeof kinds, message, realm),
            ]
            for (const value of [true, false])
                for (const [at, property] of switches.entries()) {
                    realm.apply({ id: 1, type: 'user_settings', op: 'update', property, value })
                    expect(told()[at]).toBe(value)
                }
        }
    })

    it('is heard by the own choice of its channel, and not at all without a sound', () => {
        const realm = realmOf()
        const message = channelMessage(1)
        const property = 'audible_notifications'
        realm.apply({ id: 1, type: 'subscription', op: 'update', stream_id: 1, property, value: true })
        expect(makesSound('channel', message, realm)).toBe(true)
        realm.apply({ id: 2, type: 'user_settings', op: 'update', property: 'notification_sound', value: 'none' })
        expect(makesSound('channel', message, realm)).toBe(false)
        expect(makesSound('direct', direct, realm)).toBe(false)
    })

    it('that calls everybody in a followed topic, or in a channel, follows their own switches', () => {
        const realm = realmOf()
        const flags = ['stream_wildcard_mentioned']
        const set = (property: string, value: boolean) =>
            realm.apply({ id: 1, type: 'user_settings', op: 'update', property, value })
        set('wildcard_mentions_notify', false)
        const own = { stream_id: 1, property: 'wildcard_mentions_notify', value: true }
        realm.apply({ id: 1, type: 'subscription', op: 'update', ...own })
        expect(whyOf(channelMessage(1), flags, realm)).toBe('wildcard')
        realm.apply({ id: 1, type: 'subscription', op: 'update', ...own, value: false })
        expect(whyOf(channelMessage(1), flags, realm)).toBe('channel')
        realm.apply(policy(3))
        expect(whyOf(channelMessage(1), flags, realm)).toBe('wildcard')
        set('enable_followed_topic_wildcard_mentions_notify', false)
        expect(whyOf(channelMessage(1), flags, realm)).toBe('followed')
    })

    it('is announced without markup and without spoilers', () => {
        const html =
            '<p>Hello <strong>you</strong></p><div class="spoiler-block"><div class="spoiler-header">Ending</div><div class="spoiler-content">He dies</div></div>'
        expect(plainText(html)).toBe('Hello youEnding(…)')
        expect(plainText(`<p>${'x'.repeat(300)}</p>`, 200).length).toBe(200)
        const emoji =
            '<p>So <span aria-label="tada" class="emoji emoji-1f389" role="img" title="tada">:tada:</span></p>'
        expect(plainText(emoji)).toBe('So 🎉')
        expect(plainText('<img alt=":ours:" class="emoji" src="/x.png">')).toBe(':ours:')
        expect(plainText('<p><time datetime="2026-11-20T14:00:00Z">2026-11-20T14:00:00Z</time></p>')).toMatch(
            /^Nov \d+, 2026/,
        )
    })
})

describe('the tab', () => {
    it('counts what my settings say', () => {
        const unread = { total: 9, directCount: 2, mentions: new Set([1]) }
        const count = (desktop_icon_count_display: number) =>
            badgeCount({ realm: { settings: { desktop_icon_count_display } }, unread } as unknown as World)
        expect([1, 2, 3, 4].map(count)).toEqual([9, 3, 3, 0])
    })

    it('says how much is unread', () => {
        expect(titleOf('#general > lunch', 'Café', 0)).toBe('#general > lunch · Café')
        expect(titleOf('', 'Café', 3)).toBe('(3) Café')
        expect(iconOf(0)).toBe('/static/icon.svg')
        expect(decodeURIComponent(iconOf(120))).toContain('>99<')
    })
})
