import { describe, expect, it } from 'vitest'
import { recording } from './fixtures/recorded'
import { Realm } from './realm.svelte'

function plain(realm: Realm): Record<string, unknown> {
    const maps = [
        'users',
        'channels',
        'groups',
        'folders',
        'topicPolicies',
        'statuses',
        'emoji',
        'snippets',
        'reminders',
    ]
    const own = realm as unknown as Record<string, Map<unknown, unknown>>
    return {
        ...Object.fromEntries(maps.map((name) => [name, new Map([...(own[name] ?? [])].sort(byKey))])),
        mutedUsers: [...realm.mutedUsers],
        settings: realm.settings,
        alertWords: realm.alertWords,
        defaultChannels: realm.value('realm_default_streams', []),
        description: realm.value('realm_description', ''),
        limit: realm.value('realm_message_content_edit_limit_seconds', 0),
    }
}

function byKey([a]: [unknown, unknown], [b]: [unknown, unknown]): number {
    return String(a).localeCompare(String(b))
}

describe('the organization', () => {
    it('after the events is what a new registration tells', () => {
        const { before, events, after } = recording()
        const [kept, fresh] = [new Realm(), new Realm()]
        kept.load(before)
        for (const event of events) kept.apply(event)
        fresh.load(after)
        expect(plain(kept)).toEqual(plain(fresh))
    })

    it('is replaced as a whole by a new registration', () => {
        const { before, after } = recording()
        const [again, fresh] = [new Realm(), new Realm()]
        again.load(before)
        again.load(after)
        fresh.load(after)
        expect(plain(again)).toEqual(plain(fresh))
    })

    it('knows who holds a permission, through groups of groups', () => {
        const { before } = recording()
        const realm = new Realm()
        realm.load(before)
        const members = before.realm_user_groups.find((group) => group.name === 'role:members')?.id
        const guest = before.realm_users.find((user) => user.is_guest)?.user_id ?? 0
        expect(realm.may(members)).toBe(true)
        expect(realm.isInGroup(guest, members)).toBe(false)
        expect(realm.may({ direct_members: [], direct_subgroups: [members ?? 0] })).toBe(true)
        expect(realm.may({ direct_members: [guest], direct_subgroups: [] })).toBe(false)
    })

    it('leaves topics in peace by their own policy first, then by their channel', () => {
        const { before } = recording()
        const realm = new Realm()
        realm.load(before)
        const id = before.subscriptions[0]?.stream_id ?? 0
        const policy = (visibility_policy: 0 | 1 | 3) =>
            realm.apply({
                id: 1,
                type: 'user_topic',
                stream_id: id,
                topic_name: 'T',
                last_updated: 0,
                visibility_policy,
            })
        expect(realm.isTopicMuted(id, 't')).toBe(false)
        policy(1)
        expect(realm.isTopicMuted(id, 't')).toBe(true)
        realm.apply({ id: 2, type: 'subscription', op: 'update', stream_id: id, property: 'is_muted', value: true })
        policy(3)
        expect(realm.isTopicMuted(id, 't')).toBe(false)
        policy(0)
        expect(realm.isTopicMuted(id, 't')).toBe(true)
    })
})
