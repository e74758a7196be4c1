/** What the API says, as types: the parts that this client reads. Written by hand, because the server's description
 *  leaves the initial state and events open; the recorded payloads in `fixtures/` are checked against them. */

export type Id = number

/** Who holds a permission: a group, or people and groups of its own. */
export type GroupSetting = Id | { direct_members: Id[]; direct_subgroups: Id[] }

export interface ApiReaction {
    emoji_name: string
    emoji_code: string
    reaction_type: 'unicode_emoji' | 'realm_emoji' | 'service_extra_emoji'
    user_id: Id
}

export interface ApiSubmessage {
    id: Id
    message_id: Id
    sender_id: Id
    msg_type: string
    content: string
}

export interface ApiPersonInMessage {
    id: Id
    email: string
    full_name: string
}

export interface ApiEdit {
    timestamp: number
    user_id: Id | null
    prev_content?: string
    prev_topic?: string
    topic?: string
    prev_stream?: Id
    stream?: Id
}

interface ApiMessageBase {
    id: Id
    sender_id: Id
    sender_full_name: string
    sender_email: string
    avatar_url: string | null
    client: string
    /** HTML, made safe by the server. */
    content: string
    timestamp: number
    is_me_message: boolean
    reactions: ApiReaction[]
    submessages: ApiSubmessage[]
    flags: string[]
    subject: string
    last_edit_timestamp?: number
    last_moved_timestamp?: number
    edit_history?: ApiEdit[]
    match_content?: string
    match_subject?: string
}

export interface ApiChannelMessage extends ApiMessageBase {
    type: 'stream'
    stream_id: Id
    display_recipient: string
}

export interface ApiDirectMessage extends ApiMessageBase {
    type: 'private'
    display_recipient: ApiPersonInMessage[]
}

export type ApiMessage = ApiChannelMessage | ApiDirectMessage

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

export interface ApiUser {
    user_id: Id
    email: string
    delivery_email: string | null
    full_name: string
    date_joined: string
    is_bot: boolean
    bot_type: number | null
    bot_owner_id?: Id | null
    role: number
    is_owner: boolean
    is_admin: boolean
    is_guest: boolean
    timezone: string
    avatar_url?: string | null
    avatar_version: number
    is_active?: boolean
    is_system_bot?: boolean
    profile_data?: Record<string, { value: string; rendered_value?: string }>
}

export interface ApiChannel {
    stream_id: Id
    name: string
    description: string
    rendered_description: string
    date_created: number
    creator_id: Id | null
    invite_only: boolean
    is_web_public: boolean
    history_public_to_subscribers: boolean
    is_archived: boolean
    is_recently_active: boolean
    first_message_id: Id | null
    message_retention_days: number | null
    topics_policy: 'inherit' | 'allow_empty_topic' | 'disable_empty_topic' | 'empty_topic_only'
    folder_id: Id | null
    subscriber_count: number
    stream_weekly_traffic: number | null
    can_add_subscribers_group: GroupSetting
    can_administer_channel_group: GroupSetting
    can_create_topic_group: GroupSetting
    can_delete_any_message_group: GroupSetting
    can_delete_own_message_group: GroupSetting
    can_move_messages_out_of_channel_group: GroupSetting
    can_move_messages_within_channel_group: GroupSetting
    can_remove_subscribers_group: GroupSetting
    can_resolve_topics_group: GroupSetting
    can_send_message_group: GroupSetting
    can_subscribe_group: GroupSetting
}

/** What a channel is to me, besides what it is to everybody. */
export interface ApiOwnSubscription {
    color: string
    is_muted: boolean
    pin_to_top: boolean
    desktop_notifications: boolean | null
    audible_notifications: boolean | null
    push_notifications: boolean | null
    email_notifications: boolean | null
    wildcard_mentions_notify: boolean | null
}

export interface ApiSubscription extends ApiChannel, ApiOwnSubscription {
    subscribers?: Id[]
    partial_subscribers?: Id[]
}

export interface ApiFolder {
    id: Id
    name: string
    description: string
    rendered_description: string
    order: number
    date_created: number | null
    creator_id: Id | null
    is_archived: boolean
}

export interface ApiGroup {
    id: Id
    name: string
    description: string
    date_created: number | null
    creator_id: Id | null
    members: Id[]
    direct_subgroup_ids: Id[]
    is_system_group: boolean
    deactivated: boolean
    can_add_members_group: GroupSetting
    can_join_group: GroupSetting
    can_leave_group: GroupSetting
    can_manage_group: GroupSetting
    can_mention_group: GroupSetting
    can_remove_members_group: GroupSetting
}

export interface ApiUserTopic {
    stream_id: Id
    topic_name: string
    last_updated: number
    /** 0 as the channel, 1 muted, 2 unmuted, 3 followed */
    visibility_policy: number
}

export interface ApiUnread {
    count: number
    pms: { other_user_id: Id; unread_message_ids: Id[] }[]
    huddles: { user_ids_string: string; unread_message_ids: Id[] }[]
    streams: { stream_id: Id; topic: string; unread_message_ids: Id[] }[]
    mentions: Id[]
    old_unreads_missing: boolean
}

export interface ApiDraft {
    id: Id
    type: '' | 'stream' | 'private'
    to: Id[]
    topic: string
    content: string
    timestamp: number
}

export interface ApiScheduled {
    scheduled_message_id: Id
    type: 'stream' | 'private'
    to: Id | Id[]
    topic?: string
    content: string
    rendered_content: string
    scheduled_delivery_timestamp: number
    failed: boolean
}

export interface ApiReminder {
    reminder_id: Id
    type: 'private'
    to: Id[]
    content: string
    rendered_content: string
    scheduled_delivery_timestamp: number
    failed: boolean
    reminder_target_message_id: Id
}

export interface ApiSnippet {
    id: Id
    title: string
    content: string
    date_created: number
}

export interface ApiStatus {
    away?: boolean
    status_text?: string
    emoji_name?: string
    emoji_code?: string
    reaction_type?: string
}

export interface ApiRealmEmoji {
    id: string
    name: string
    source_url: string
    still_url: string | null
    deactivated: boolean
    author_id: Id | null
}

export interface ApiLinkifier {
    id: Id
    pattern: string
    url_template: string
}

export interface ApiPresence {
    active_timestamp?: number
    idle_timestamp?: number
}

export interface ApiTopic {
    name: string
    max_id: Id
}

export interface ApiProfileField {
    id: Id
    type: number
    order: number
    name: string
    hint: string
    field_data: string
    display_in_profile_summary?: boolean
    required: boolean
    editable_by_user: boolean
}

export type SettingValue = boolean | number | string | null

/** My settings by name; the list is long and grows, so what is unknown here is still kept. */
export interface ApiUserSettings {
    [name: string]: unknown
    color_scheme: number
    default_language: string
    enter_sends: boolean
    twenty_four_hour_time: boolean
    web_home_view: string
    web_mark_read_on_scroll_policy: number
    web_font_size_px: number
    web_line_height_percent: number
    enable_desktop_notifications: boolean
    enable_sounds: boolean
    enable_stream_desktop_notifications: boolean
    enable_stream_audible_notifications: boolean
    enable_followed_topic_desktop_notifications: boolean
    enable_followed_topic_audible_notifications: boolean
    wildcard_mentions_notify: boolean
    enable_followed_topic_wildcard_mentions_notify: boolean
    pm_content_in_desktop_notifications: boolean
    presence_enabled: boolean
    send_stream_typing_notifications: boolean
    send_private_typing_notifications: boolean
    receives_typing_notifications: boolean
    enable_drafts_synchronization: boolean
    display_emoji_reaction_users: boolean
    desktop_icon_count_display: number
    timezone: string
}

/** The answer of POST /register: `realm_*`, `server_*` and `max_*` besides those named here. */
export interface InitialState {
    [name: string]: unknown
    queue_id: string
    last_event_id: number
    service_version: string
    service_feature_level: number
    server_generation: number
    user_id: Id
    email: string
    full_name: string
    is_admin: boolean
    is_owner: boolean
    is_moderator: boolean
    is_guest: boolean
    max_message_length: number
    max_topic_length: number
    max_file_upload_size_mib: number
    realm_name: string
    realm_description: string
    realm_icon_url: string
    realm_empty_topic_display_name: string
    realm_users: ApiUser[]
    realm_non_active_users: ApiUser[]
    cross_realm_bots: ApiUser[]
    realm_user_groups: ApiGroup[]
    subscriptions: ApiSubscription[]
    unsubscribed: ApiSubscription[]
    never_subscribed: ApiChannel[]
    channel_folders: ApiFolder[]
    user_topics: ApiUserTopic[]
    muted_users: { id: Id; timestamp: number }[]
    alert_words: string[]
    unread_msgs: ApiUnread
    starred_messages: Id[]
    drafts: ApiDraft[]
    saved_snippets: ApiSnippet[]
    scheduled_messages: ApiScheduled[]
    reminders: ApiReminder[]
    user_settings: ApiUserSettings
    user_status: Record<string, ApiStatus>
    presences: Record<string, ApiPresence>
    presence_last_update_id: number
    server_timestamp: number
    realm_emoji: Record<string, ApiRealmEmoji>
    realm_linkifiers: ApiLinkifier[]
    custom_profile_fields: ApiProfileField[]
    recent_private_conversations?: { user_ids: Id[]; max_message_id: Id }[]
}

/** An event as it comes; `readAs` in the modules that apply them narrows by `type` and `op`. */
export interface ApiEvent {
    [name: string]: unknown
    id: number
    type: string
    op?: string
}

export interface ServerSettings {
    realm_name: string
    realm_description: string
    realm_icon: string
    realm_url: string
    email_auth_enabled: boolean
    require_email_format_usernames: boolean
    push_notifications_enabled: boolean
    authentication_methods?: Record<string, boolean>
    realm_invite_required?: boolean
    external_authentication_methods: {
        name: string
        display_name: string
        display_icon: string | null
        login_url: string
        signup_url: string
    }[]
}
