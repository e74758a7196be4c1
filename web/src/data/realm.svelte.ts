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
    ApiSubscription,
    ApiUser,
    ApiUserSettings,
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
            if (/^(realm|server|max|service|can|is)_/.test(name) && !LISTS.has(name)) this.values.set(name, value)
        }
    }

    // Questions

    /** An own setting of the organization, such as `realm_name`. */
    value<T>(name: string, otherwise: T): T {
        return (this.values.get(name) as T | undefined) ?? otherwise
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

    isInGroup(userId: Id, setting: GroupSetting | undefined): boolean {
        if (setting === undefined) return false
        if (typeof setting !== 'number') {
            return (
                setting.direct_members.includes(userId) ||
                setting.direct_subgroups.some((group) => this.#holds(group, userId, new Set()))
            )
        }
        return this.#holds(setting, userId, new Set())
    }

    /** Whether I am among those who hold this permission. */
    may(setting: GroupSetting | undefined): boolean {
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

    /** Whether the event was one of ours. */
    apply(event: ApiEvent): boolean {
        const act = this.#acts[event.type]
        act?.(event)
        return act !== undefined
    }

    readonly #acts: Record<string, (event: ApiEvent) => void> = {
        realm_user: (event) => this.#person(event),
        stream: (event) => this.#channel(event),
        subscription: (event) => this.#subscription(event),
        user_group: (event) => this.#group(event),
        channel_folder: (event) => this.#folder(event),
        user_topic: (event) => {
            const { stream_id, topic_name, visibility_policy } = event as unknown as {
                stream_id: Id
                topic_name: string
                visibility_policy: number
            }
            this.#setPolicy(stream_id, topic_name, visibility_policy)
        },
        muted_users: (event) => {
            this.mutedUsers.clear()
            for (const each of event['muted_users'] as { id: Id }[]) this.mutedUsers.add(each.id)
        },
        user_status: (event) => this.#status(event),
        default_streams: (event) => this.values.set('realm_default_streams', event['default_streams']),
        alert_words: (event) => (this.alertWords = event['alert_words'] as string[]),
        realm_linkifiers: (event) => (this.linkifiers = event['realm_linkifiers'] as ApiLinkifier[]),
        custom_profile_fields: (event) => (this.profileFields = event['fields'] as ApiProfileField[]),
        realm_emoji: (event) => {
            const all = Object.values(event['realm_emoji'] as Record<string, ApiRealmEmoji>)
            replaceAll(this.emoji, all, (emoji) => emoji.id)
        },
        user_settings: (event) => {
            this.settings = { ...this.settings, [String(event['property'])]: event['value'] }
        },
        realm: (event) => this.#setting(event),
        saved_snippets: (event) => {
            if (event.op === 'remove') this.snippets.delete(event['saved_snippet_id'] as Id)
            else {
                const snippet = event['saved_snippet'] as ApiSnippet
                this.snippets.set(snippet.id, snippet)
            }
        },
        reminders: (event) => {
            if (event.op === 'remove') this.reminders.delete(event['reminder_id'] as Id)
            else for (const each of event['reminders'] as ApiReminder[]) this.reminders.set(each.reminder_id, each)
        },
    }

    #person(event: ApiEvent): void {
        const person = event['person'] as Partial<ApiUser> & { user_id: Id }
        if (event.op === 'remove') this.users.delete(person.user_id)
        else if (event.op === 'add') {
            this.users.set(person.user_id, { ...(person as ApiUser), is_active: person.is_active ?? true })
        } else {
            const old = this.users.get(person.user_id)
            if (old) this.users.set(person.user_id, changedPerson(old, person))
        }
    }

    #channel(event: ApiEvent): void {
        if (event.op === 'create') {
            for (const channel of event['streams'] as ApiChannel[]) {
                const old = this.channels.get(channel.stream_id)
                this.channels.set(channel.stream_id, { ...NOT_SUBSCRIBED, isSubscribed: false, ...old, ...channel })
            }
        } else if (event.op === 'delete') {
            const ids = (event['stream_ids'] ??
                (event['streams'] as ApiChannel[]).map((each) => each.stream_id)) as Id[]
            for (const id of ids) this.channels.delete(id)
        } else if (event.op === 'update') {
            const { id: _id, type: _type, op: _op, stream_id, name: _name, property, value, ...more } = event
            this.#change(stream_id as Id, { [String(property)]: value, ...more } as Partial<Channel>)
        }
    }

    #subscription(event: ApiEvent): void {
        switch (event.op) {
            case 'add':
                for (const { subscribers, ...each } of event['subscriptions'] as ApiSubscription[]) {
                    this.channels.set(each.stream_id, { ...each, isSubscribed: true })
                    this.#counted.set(each.stream_id, new Set(subscribers))
                }
                break
            case 'remove':
                for (const each of event['subscriptions'] as { stream_id: Id }[]) {
                    this.#change(each.stream_id, { isSubscribed: false })
                }
                break
            case 'update':
                this.#change(event['stream_id'] as Id, { [String(event['property'])]: event['value'] })
                break
            case 'peer_add':
            case 'peer_remove':
                this.#peers(event)
        }
    }

    /** A channel that I join comes with its count; those who joined with me are told of as well, and are in it. */
    #peers(event: ApiEvent): void {
        const isAdded = event.op === 'peer_add'
        for (const channelId of event['stream_ids'] as Id[]) {
            const channel = this.channels.get(channelId)
            const counted = this.#counted.get(channelId) ?? new Set()
            const fresh = (event['user_ids'] as Id[]).filter((id) => !isAdded || !counted.has(id))
            for (const id of fresh) counted[isAdded ? 'add' : 'delete'](id)
            this.#counted.set(channelId, counted)
            const subscriber_count = (channel?.subscriber_count ?? 0) + (isAdded ? fresh.length : -fresh.length)
            if (channel) this.channels.set(channelId, { ...channel, subscriber_count })
        }
    }

    #change(channelId: Id, changes: Partial<Channel>): void {
        const old = this.channels.get(channelId)
        if (old) this.channels.set(channelId, { ...old, ...changes })
    }

    #group(event: ApiEvent): void {
        if (event.op === 'add') {
            const group = event['group'] as ApiGroup
            this.groups.set(group.id, group)
            return
        }
        const id = event['group_id'] as Id
        const old = this.groups.get(id)
        if (event.op === 'remove') this.groups.delete(id)
        else if (old) this.groups.set(id, changedGroup(old, event))
    }

    #folder(event: ApiEvent): void {
        if (event.op === 'add') {
            const folder = event['channel_folder'] as ApiFolder
            this.folders.set(folder.id, folder)
        } else if (event.op === 'update') {
            const id = event['channel_folder_id'] as Id
            const old = this.folders.get(id)
            if (old) this.folders.set(id, { ...old, ...(event['data'] as Partial<ApiFolder>) })
        } else if (event.op === 'reorder') {
            for (const [order, id] of (event['order'] as Id[]).entries()) {
                const old = this.folders.get(id)
                if (old) this.folders.set(id, { ...old, order })
            }
        }
    }

    #status(event: ApiEvent): void {
        const { id: _id, type: _type, op: _op, user_id, ...changes } = event
        const now = { ...this.statuses.get(user_id as Id), ...changes } as Record<string, unknown>
        for (const [name, value] of Object.entries(now)) if (value === '' || value === false) delete now[name]
        const isEmpty = !('away' in now) && !('status_text' in now) && !('emoji_name' in now)
        if (isEmpty) this.statuses.delete(user_id as Id)
        else this.statuses.set(user_id as Id, now)
    }

    #setting(event: ApiEvent): void {
        if (event.op === 'update') this.values.set(`realm_${String(event['property'])}`, event['value'])
        else if (event.op === 'update_dict') {
            for (const [name, value] of Object.entries(event['data'] as object)) this.values.set(`realm_${name}`, value)
        }
    }

    #setPolicy(channelId: Id, topic: string, policy: number): void {
        if (policy === POLICY.inherit) this.topicPolicies.delete(topicKey(channelId, topic))
        else this.topicPolicies.set(topicKey(channelId, topic), { channelId, topic, policy })
    }
}

/** Lists of the initial state that have a map of their own. */
const LISTS = new Set(['realm_users', 'realm_non_active_users', 'realm_user_groups', 'realm_emoji', 'realm_linkifiers'])

function changedPerson(old: ApiUser, changes: Partial<ApiUser> & Record<string, unknown>): ApiUser {
    const { custom_profile_field: field, new_email: email, ...rest } = changes
    const person: ApiUser = { ...old, ...rest }
    if (typeof email === 'string') person.email = email
    if (typeof rest.role === 'number') {
        person.is_owner = rest.role === 100
        person.is_admin = rest.role <= 200
        person.is_guest = rest.role === 600
    }
    if (field) {
        const { id, value, rendered_value } = field as { id: Id; value: string | null; rendered_value?: string }
        const { [String(id)]: _old, ...others } = person.profile_data ?? {}
        const entry = rendered_value === undefined ? { value: value ?? '' } : { value: value ?? '', rendered_value }
        person.profile_data = value === null ? others : { ...others, [String(id)]: entry }
    }
    return person
}

function changedGroup(old: ApiGroup, event: ApiEvent): ApiGroup {
    const users = new Set((event['user_ids'] ?? []) as Id[])
    const groups = new Set((event['direct_subgroup_ids'] ?? []) as Id[])
    switch (event.op) {
        case 'add_members':
            return { ...old, members: [...new Set([...old.members, ...users])] }
        case 'remove_members':
            return { ...old, members: old.members.filter((id) => !users.has(id)) }
        case 'add_subgroups':
            return { ...old, direct_subgroup_ids: [...new Set([...old.direct_subgroup_ids, ...groups])] }
        case 'remove_subgroups':
            return { ...old, direct_subgroup_ids: old.direct_subgroup_ids.filter((id) => !groups.has(id)) }
        case 'update':
            return { ...old, ...(event['data'] as Partial<ApiGroup>) }
        default:
            return old
    }
}

function replaceAll<K, V>(map: SvelteMap<K, V>, values: readonly V[], keyOf: (value: V) => K): void {
    const keys = new Set(values.map(keyOf))
    for (const key of map.keys()) if (!keys.has(key)) map.delete(key)
    for (const value of values) map.set(keyOf(value), value)
}
