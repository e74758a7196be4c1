/** The organization as this person sees it: people, channels, groups, settings. Kept current by events, one function each.
 *
 *  Records are replaced, not changed in place: whoever shows one reads it from its map. */
import { SvelteMap, SvelteSet } from 'svelte/reactivity'
import type {
    ApiChannel,
    ApiEvent,
    ApiFolder,
    ApiGroup,
    ApiLinkifier,
    ApiOwnSubscription,
    ApiProfileField,
    ApiRealmEmoji,
    ApiReminder,
    ApiSnippet,
    ApiStatus,
    ApiUser,
    ApiUserChange,
    ApiUserSettings,
    EventOf,
    GroupSetting,
    Id,
    InitialState,
} from './api-types'
import { topicKey } from './place'

/** A channel as I see it. `isSubscribed`: the own settings count only then. */
export type Channel = ApiChannel & ApiOwnSubscription & { isSubscribed: boolean }

/** How a topic is treated: 0 as its channel, 1 muted, 2 unmuted, 3 followed. */
export const POLICY = { inherit: 0, muted: 1, unmuted: 2, followed: 3 } as const

export interface TopicPolicy {
    channelId: Id
    topic: string
    policy: number
}

type Value<Name extends keyof InitialState> = NonNullable<InitialState[Name]>

const NOT_SUBSCRIBED: ApiOwnSubscription = {
    color: '#8a8a8a',
    is_muted: false,
    pin_to_top: false,
    desktop_notifications: null,
    audible_notifications: null,
    push_notifications: null,
    email_notifications: null,
    wildcard_mentions_notify: null,
}

export class Realm {
    me: Id = $state(0)
    /** Everybody, deactivated people and system bots too. */
    readonly users = new SvelteMap<Id, ApiUser>()
    readonly channels = new SvelteMap<Id, Channel>()
    readonly groups = new SvelteMap<Id, ApiGroup>()
    readonly folders = new SvelteMap<Id, ApiFolder>()
    /** By `topicKey`; topics without a policy of their own are not here. */
    readonly topicPolicies = new SvelteMap<string, TopicPolicy>()
    readonly mutedUsers = new SvelteSet<Id>()
    readonly statuses = new SvelteMap<Id, ApiStatus>()
    readonly emoji = new SvelteMap<string, ApiRealmEmoji>()
    readonly snippets = new SvelteMap<Id, ApiSnippet>()
    readonly reminders = new SvelteMap<Id, ApiReminder>()
    settings: ApiUserSettings = $state.raw({} as ApiUserSettings)
    alertWords: readonly string[] = $state.raw([])
    linkifiers: readonly ApiLinkifier[] = $state.raw([])
    profileFields: readonly ApiProfileField[] = $state.raw([])
    /** Everything else that POST /register told, by its name there: `realm_name`, `max_message_length` ... */
    readonly values = new SvelteMap<string, unknown>()
    /** Subscribers that are in the count of a channel, as far as they are known by name. */
    readonly #counted = new Map<Id, Set<Id>>()

    load(state: InitialState): void {
        this.me = state.user_id
        this.#counted.clear()
        const gone = state.realm_non_active_users.map((user) => ({ ...user, is_active: false }))
        const here = [...state.realm_users, ...state.cross_realm_bots].map((user) => ({ ...user, is_active: true }))
        replaceAll(this.users, [...gone, ...here], (user) => user.user_id)
        const channels = [
            ...state.never_subscribed.map((channel) => ({ ...NOT_SUBSCRIBED, ...channel, isSubscribed: false })),
            ...state.unsubscribed.map((channel) => ({ ...channel, isSubscribed: false })),
            ...state.subscriptions.map((channel) => ({ ...channel, isSubscribed: true })),
        ]
        replaceAll(this.channels, channels, (channel) => channel.stream_id)
        replaceAll(this.groups, state.realm_user_groups, (group) => group.id)
        replaceAll(this.folders, state.channel_folders, (folder) => folder.id)
        replaceAll(this.snippets, state.saved_snippets, (snippet) => snippet.id)
        replaceAll(this.reminders, state.reminders, (reminder) => reminder.reminder_id)
        replaceAll(this.emoji, Object.values(state.realm_emoji), (emoji) => emoji.id)
        this.topicPolicies.clear()
        for (const each of state.user_topics) this.#setPolicy(each.stream_id, each.topic_name, each.visibility_policy)
        this.mutedUsers.clear()
        for (const each of state.muted_users) this.mutedUsers.add(each.id)
        this.statuses.clear()
        for (const [id, status] of Object.entries(state.user_status)) this.statuses.set(Number(id), status)
        this.settings = state.user_settings
        this.alertWords = state.alert_words
        this.linkifiers = state.realm_linkifiers
        this.profileFields = state.custom_profile_fields
        for (const [name, value] of Object.entries(state)) {
            if (/^(realm|server|settings|max|service|can|is)_/.test(name) && !LISTS.has(name))
                this.values.set(name, value)
        }
    }

    // Questions

    /** What is known under a name of the initial state, such as `realm_name`. */
    value<Name extends keyof InitialState>(name: Name, otherwise: Value<Name>): Value<Name>
    value<Name extends keyof InitialState>(name: Name, otherwise: null): Value<Name> | null
    value(name: keyof InitialState, otherwise: unknown): unknown {
        return this.values.get(name) ?? otherwise
    }

    userName(id: Id): string {
        return this.users.get(id)?.full_name ?? ''
    }

    channelName = (id: Id): string | undefined => this.channels.get(id)?.name

    /** What a topic without a name is called. */
    topicName(topic: string): string {
        return topic || this.value('realm_empty_topic_display_name', '')
    }

    policyOf(channelId: Id, topic: string): number {
        return this.topicPolicies.get(topicKey(channelId, topic))?.policy ?? POLICY.inherit
    }

    /** Whether a topic is to be left in peace: muted itself, or in a muted channel and not picked out. */
    isTopicMuted(channelId: Id, topic: string): boolean {
        const policy = this.policyOf(channelId, topic)
        if (policy === POLICY.muted) return true
        return policy === POLICY.inherit && (this.channels.get(channelId)?.is_muted ?? true)
    }

    isInGroup(userId: Id, setting: GroupSetting | null | undefined): boolean {
        if (setting === undefined || setting === null) return false
        if (typeof setting !== 'number') {
            return (
                setting.direct_members.includes(userId) ||
                setting.direct_subgroups.some((group) => this.#holds(group, userId, new Set()))
            )
        }
        return this.#holds(setting, userId, new Set())
    }

    /** Whether I am among those who hold this permission. */
    may(setting: GroupSetting | null | undefined): boolean {
        return this.isInGroup(this.me, setting)
    }

    #holds(groupId: Id, userId: Id, seen: Set<Id>): boolean {
        if (seen.has(groupId)) return false
        seen.add(groupId)
        const group = this.groups.get(groupId)
        if (!group) return false
        return group.members.includes(userId) || group.direct_subgroup_ids.some((id) => this.#holds(id, userId, seen))
    }

    // Events

    apply(event: ApiEvent): void {
        switch (event.type) {
            case 'realm_user':
                return this.#person(event)
            case 'stream':
                return this.#channel(event)
            case 'subscription':
                return this.#subscription(event)
            case 'user_group':
                return this.#group(event)
            case 'channel_folder':
                return this.#folder(event)
            case 'user_topic':
                return this.#setPolicy(event.stream_id, event.topic_name, event.visibility_policy)
            case 'muted_users':
                this.mutedUsers.clear()
                for (const each of event.muted_users) this.mutedUsers.add(each.id)
                return
            case 'user_status':
                return this.#status(event)
            case 'default_streams':
                this.values.set('realm_default_streams', event.default_streams)
                return
            case 'alert_words':
                this.alertWords = event.alert_words
                return
            case 'realm_linkifiers':
                this.linkifiers = event.realm_linkifiers
                return
            case 'custom_profile_fields':
                this.profileFields = event.fields
                return
            case 'realm_emoji':
                return this.#customEmoji(event)
            case 'user_settings':
                this.settings = { ...this.settings, [event.property]: event.value }
                return
            case 'realm_user_settings_defaults': {
                const old = this.value('realm_user_settings_defaults', this.settings)
                this.values.set('realm_user_settings_defaults', { ...old, [event.property]: event.value })
                return
            }
            case 'realm':
                return this.#setting(event)
            case 'realm_domains':
                return this.#domain(event)
            case 'realm_playgrounds':
                this.values.set('realm_playgrounds', event.realm_playgrounds)
                return
            case 'saved_snippets':
                if (event.op === 'remove') this.snippets.delete(event.saved_snippet_id)
                else this.snippets.set(event.saved_snippet.id, event.saved_snippet)
                return
            case 'reminders':
                if (event.op === 'remove') this.reminders.delete(event.reminder_id)
                else for (const each of event.reminders) this.reminders.set(each.reminder_id, each)
        }
    }

    #person(event: EventOf<'realm_user'>): void {
        const id = event.person.user_id
        switch (event.op) {
            case 'add':
                this.users.set(id, { ...event.person, is_active: event.person.is_active ?? true })
                break
            case 'remove':
                this.users.delete(id)
                break
            case 'update': {
                const old = this.users.get(id)
                if (old) this.users.set(id, changedPerson(old, event.person))
            }
        }
    }

    #channel(event: EventOf<'stream'>): void {
        switch (event.op) {
            case 'create':
                for (const channel of event.streams) {
                    const old = this.channels.get(channel.stream_id)
                    this.channels.set(channel.stream_id, { ...NOT_SUBSCRIBED, isSubscribed: false, ...old, ...channel })
                }
                break
            case 'delete':
                for (const id of event.stream_ids) this.channels.delete(id)
                break
            case 'update': {
                const { id: _id, type: _type, op: _op, stream_id, name: _name, property, value, ...more } = event
                this.#change(stream_id, { [property]: value, ...more })
            }
        }
    }

    #subscription(event: EventOf<'subscription'>): void {
        switch (event.op) {
            case 'add':
                for (const { subscribers, ...each } of event.subscriptions) {
                    this.channels.set(each.stream_id, { ...each, isSubscribed: true })
                    this.#counted.set(each.stream_id, new Set(subscribers))
                }
                break
            case 'remove':
                for (const each of event.subscriptions) this.#change(each.stream_id, { isSubscribed: false })
                break
            case 'update':
                this.#change(event.stream_id, { [event.property]: event.value })
                break
            case 'peer_add':
            case 'peer_remove':
                for (const id of event.stream_ids) this.#peers(id, event.user_ids, event.op === 'peer_add')
        }
    }

    /** A channel that I join comes with its count; those who joined with me are told of as well, and are in it. */
    #peers(channelId: Id, userIds: readonly Id[], isAdded: boolean): void {
        const channel = this.channels.get(channelId)
        const counted = this.#counted.get(channelId) ?? new Set()
        const fresh = userIds.filter((id) => !isAdded || !counted.has(id))
        for (const id of fresh) counted[isAdded ? 'add' : 'delete'](id)
        this.#counted.set(channelId, counted)
        const subscriber_count = (channel?.subscriber_count ?? 0) + (isAdded ? fresh.length : -fresh.length)
        if (channel) this.channels.set(channelId, { ...channel, subscriber_count })
    }

    #change(channelId: Id, changes: Partial<Channel>): void {
        const old = this.channels.get(channelId)
        if (old) this.channels.set(channelId, { ...old, ...changes })
    }

    #group(event: EventOf<'user_group'>): void {
        if (event.op === 'add') this.groups.set(event.group.id, event.group)
        else if (event.op === 'remove') this.groups.delete(event.group_id)
        else {
            const old = this.groups.get(event.group_id)
            if (old) this.groups.set(event.group_id, changedGroup(old, event))
        }
    }

    #folder(event: EventOf<'channel_folder'>): void {
        switch (event.op) {
            case 'add':
                this.folders.set(event.channel_folder.id, event.channel_folder)
                break
            case 'update': {
                const old = this.folders.get(event.channel_folder_id)
                if (old) this.folders.set(event.channel_folder_id, { ...old, ...event.data })
                break
            }
            case 'reorder':
                for (const [order, id] of event.order.entries()) {
                    const old = this.folders.get(id)
                    if (old) this.folders.set(id, { ...old, order })
                }
        }
    }

    #status(event: EventOf<'user_status'>): void {
        const { id: _id, type: _type, user_id, ...changes } = event
        const now: ApiStatus = { ...this.statuses.get(user_id), ...changes }
        for (const name of Object.keys(now) as (keyof ApiStatus)[]) if (!now[name]) delete now[name]
        const isEmpty = !('away' in now) && !('status_text' in now) && !('emoji_name' in now)
        if (isEmpty) this.statuses.delete(user_id)
        else this.statuses.set(user_id, now)
    }

    /** Without `individual_emoji_changes` (register.ts) the server sends all of them. */
    #customEmoji(event: EventOf<'realm_emoji'>): void {
        if (event.op === 'update') replaceAll(this.emoji, Object.values(event.realm_emoji), (emoji) => emoji.id)
    }

    #setting(event: EventOf<'realm'>): void {
        const changes = event.op === 'update' ? { [event.property]: event.value } : event.data
        for (const [name, value] of Object.entries(changes)) this.values.set(`realm_${name}`, value)
    }

    #domain(event: EventOf<'realm_domains'>): void {
        const name = event.op === 'remove' ? event.domain : event.realm_domain.domain
        const others = this.value('realm_domains', []).filter((each) => each.domain !== name)
        const all = event.op === 'remove' ? others : [...others, event.realm_domain]
        this.values.set(
            'realm_domains',
            all.toSorted((a, b) => a.domain.localeCompare(b.domain)),
        )
    }

    #setPolicy(channelId: Id, topic: string, policy: number): void {
        if (policy === POLICY.inherit) this.topicPolicies.delete(topicKey(channelId, topic))
        else this.topicPolicies.set(topicKey(channelId, topic), { channelId, topic, policy })
    }
}

/** Lists of the initial state that have a map of their own. */
const LISTS = new Set(['realm_users', 'realm_non_active_users', 'realm_user_groups', 'realm_emoji', 'realm_linkifiers'])

function changedPerson(old: ApiUser, changes: ApiUserChange): ApiUser {
    const { custom_profile_field: field, new_email: email, ...rest } = changes
    const person: ApiUser = { ...old, ...rest }
    if (email !== undefined) person.email = email
    if (rest.role !== undefined) {
        person.is_owner = rest.role === 100
        person.is_admin = rest.role <= 200
        person.is_guest = rest.role === 600
    }
    if (field) {
        const { id, value, rendered_value } = field
        const { [String(id)]: _old, ...others } = person.profile_data ?? {}
        const entry = rendered_value === undefined ? { value: value ?? '' } : { value: value ?? '', rendered_value }
        person.profile_data = value === null ? others : { ...others, [String(id)]: entry }
    }
    return person
}

function changedGroup(old: ApiGroup, event: Exclude<EventOf<'user_group'>, { op: 'add' | 'remove' }>): ApiGroup {
    switch (event.op) {
        case 'add_members':
            return { ...old, members: union(old.members, event.user_ids) }
        case 'remove_members':
            return { ...old, members: without(old.members, event.user_ids) }
        case 'add_subgroups':
            return { ...old, direct_subgroup_ids: union(old.direct_subgroup_ids, event.direct_subgroup_ids) }
        case 'remove_subgroups':
            return { ...old, direct_subgroup_ids: without(old.direct_subgroup_ids, event.direct_subgroup_ids) }
        case 'update':
            return { ...old, ...event.data }
        default:
            event satisfies never
            return old
    }
}

const union = (some: readonly Id[], others: readonly Id[]) => [...new Set([...some, ...others])]
const without = (all: readonly Id[], gone: readonly Id[]) => all.filter((id) => !gone.includes(id))

function replaceAll<K, V>(map: SvelteMap<K, V>, values: readonly V[], keyOf: (value: V) => K): void {
    const keys = new Set(values.map(keyOf))
    for (const key of map.keys()) if (!keys.has(key)) map.delete(key)
    for (const value of values) map.set(keyOf(value), value)
}
