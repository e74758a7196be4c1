/** Asking for the state of the organization and a queue of what happens from then on. */
import type { Answer, Api } from './api'
import type { InitialState } from './api-types'

/** What this client understands; see POST /register. */
export const CAPABILITIES = {
    notification_settings_null: true,
    bulk_message_deletion: true,
    user_avatar_url_field_optional: false,
    stream_typing_notifications: true,
    user_settings_object: true,
    linkifier_url_template: true,
    user_list_incomplete: true,
    include_deactivated_groups: true,
    archived_channels: true,
    empty_topic_name: true,
    simplified_presence_events: true,
    pinned_messages: true,
}
/** A laptop that sleeps through lunch finds its queue as it left it. */
const IDLE_SECONDS = 3600

export function register(api: Api): Promise<Answer<InitialState>> {
    return api.post<InitialState>('register', {
        apply_markdown: true,
        client_gravatar: false,
        slim_presence: true,
        client_capabilities: CAPABILITIES,
        idle_queue_timeout: IDLE_SECONDS,
    })
}
