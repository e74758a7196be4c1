/** What the API says, in the words of this client. `api-schema.ts` is generated from the server's description; here its records get
 *  the names used in `src`, and are told apart where the description is wider than what this client asks for (`register.ts`).
 *  Answers of other requests, which the client reads only in part, are written by hand below. */
import type * as schema from './api-schema'

export type Id = number

// Events

/** An event; `type`, and where there is one `op`, say which. */
export type ApiEvent = Exclude<schema.AnyEvent, schema.MessageEvent> | ApiMessageEvent

/** The events of a type: `EventOf<'typing'>`. */
export type EventOf<Type extends ApiEvent['type']> = Extract<ApiEvent, { type: Type }>

type ApiMessageEvent = Omit<schema.MessageEvent, 'message'> & { message: ApiNewMessage }

// Messages

/** What both kinds of messages have. Every list that this client asks for is there, though it may be empty. */
type MessageParts = Omit<schema.MessageRecord, 'type' | 'stream_id' | 'display_recipient' | ListOfMessage> &
    Required<Pick<schema.MessageRecord, ListOfMessage>>
type ListOfMessage = 'reactions' | 'submessages' | 'flags'

export type ApiChannelMessage = MessageParts & { type: 'stream'; stream_id: Id; display_recipient: string }
export type ApiDirectMessage = MessageParts & { type: 'private'; display_recipient: ApiPersonInMessage[] }
export type ApiMessage = ApiChannelMessage | ApiDirectMessage
/** A message as its event brings it: what it is to the reader is said beside it. */
export type ApiNewMessage = Omit<ApiChannelMessage, 'flags'> | Omit<ApiDirectMessage, 'flags'>

export type ApiReaction = schema.ReactionRecord
export type ApiSubmessage = schema.SubmessageRecord
export type ApiPersonInMessage = schema.Participant
export type ApiEdit = schema.EditEntry

export interface ApiMessages {
    messages: ApiMessage[]
    found_anchor: boolean
    found_oldest: boolean
    found_newest: boolean
    anchor: Id
    history_limited: boolean
}

export interface NarrowTerm {
    operator: string
    operand: string | number | number[]
    negated?: boolean
}

// The organization

/** Who holds a permission: a group, or people and groups of its own. */
export type GroupSetting = Id | schema.GroupMembers

export type ApiUser = schema.UserRecord & Partial<Pick<schema.SystemBot, 'is_system_bot'>>
export type ApiUserChange = schema.UserChange
export type ApiChannel = schema.ChannelRecord
export type ApiSubscription = schema.SubscriptionRecord
/** What a channel is to me, besides what it is to everybody. */
export type ApiOwnSubscription = Pick<
    ApiSubscription,
    | 'color'
    | 'is_muted'
    | 'pin_to_top'
    | 'desktop_notifications'
    | 'audible_notifications'
    | 'push_notifications'
    | 'email_notifications'
    | 'wildcard_mentions_notify'
>
export type ApiFolder = schema.Folder
export type ApiGroup = schema.GroupRecord
export type ApiRealmEmoji = schema.EmojiRecord
export type ApiLinkifier = schema.LinkifierRecord
export type ApiProfileField = schema.ProfileField
export type ApiExternalAccount = schema.ExternalAccount
export type ApiPermissionRule = schema.PermissionRule
export type ApiStatus = schema.ShownStatus
export type ApiPresence = schema.Timestamps

export interface ApiTopic {
    name: string
    max_id: Id
}

// One's own

export type ApiUserTopic = schema.UserTopic
export type ApiUnread = schema.UnreadMessages
export type ApiUnreadDetails = schema.UnreadDetails
export type ApiDraft = schema.Draft
export type ApiScheduled = schema.ScheduledRecord
export type ApiExport = schema.ExportRecord
export type ApiReminder = schema.ReminderRecord
export type ApiSnippet = schema.Snippet
export type ApiUserSettings = schema.OwnSettings
export interface ApiPin {
    message_id: Id
    /** Seconds. */
    pinned_at: number
}
/** A file of mine that is there. */
export type ApiFile = Required<Omit<schema.Attachment, 'messages'>>

export type SettingValue = boolean | number | string | null

// POST /register

type Described = schema.InitialState

/** Keys that are there for whoever asks for everything, as this client does, and that it cannot do without. */
type Fetched =
    | 'last_event_id'
    | 'user_id'
    | 'realm_users'
    | 'realm_non_active_users'
    | 'cross_realm_bots'
    | 'realm_user_groups'
    | 'subscriptions'
    | 'unsubscribed'
    | 'never_subscribed'
    | 'channel_folders'
    | 'user_topics'
    | 'muted_users'
    | 'alert_words'
    | 'unread_msgs'
    | 'drafts'
    | 'saved_snippets'
    | 'scheduled_messages'
    | 'reminders'
    | 'user_settings'
    | 'user_status'
    | 'presence_last_update_id'
    | 'server_timestamp'
    | 'realm_emoji'
    | 'realm_linkifiers'
    | 'custom_profile_fields'
    | 'server_typing_started_wait_period_milliseconds'
    | 'server_typing_stopped_wait_period_milliseconds'
    | 'server_typing_started_expiry_period_milliseconds'

/** The answer of POST /register. Somebody signed in has a queue, and the presences are slim. */
export type InitialState = Omit<Described, Fetched | 'queue_id' | 'presences'> &
    Required<Pick<Described, Fetched>> & { queue_id: string; presences: Record<string, ApiPresence> }

/** Settings of the organization with values of one type, by their names: those of the initial state without `realm_`. */
export type RealmSetting<Value> = {
    [Key in keyof InitialState]-?: Key extends `realm_${infer Name}`
        ? NonNullable<InitialState[Key]> extends Value
            ? Name
            : never
        : never
}[keyof InitialState]

export interface ServerSettings {
    realm_name: string
    realm_default_language: string
    realm_description: string
    realm_icon: string
    realm_url: string
    email_auth_enabled: boolean
    require_email_format_usernames: boolean
    push_notifications_enabled: boolean
    authentication_methods?: Record<string, boolean>
    realm_invite_required?: boolean
    realm_web_public_access_enabled?: boolean
    external_authentication_methods: {
        name: string
        display_name: string
        display_icon: string | null
        login_url: string
        signup_url: string
    }[]
}

// Erasing people, for owners

export interface ApiErasureState {
    is_held: boolean
    erasure: {
        messages: 'keep' | 'delete' | 'anonymize'
        steps_done: number
        steps_total: number
        finished_timestamp: number | null
        tables: { table: string; erased: number; kept: number; what: string }[] | null
        outside: { where: string; what: string }[] | null
    } | null
}

/** A token of a directory, without its secret. Times are in seconds. */
export interface ApiScimToken {
    id: Id
    label: string
    created: number
    /** Null: the operator of the server, or somebody who is no more. */
    made_by: Id | null
    last_used: number | null
}

export interface ApiHold {
    id: Id
    /** Null: everybody. */
    user_id: Id | null
    reason: string
    created_timestamp: number
    /** Null: the operator of the server. */
    made_by: Id | null
}
