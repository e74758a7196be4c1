/** The pages of my settings and of the organization: which there are for somebody. */
import type { Channel, Realm } from '../data/realm.svelte'
import type { World } from '../data/world.svelte'

export const OWN_TABS = [
    'profile',
    'account',
    'notifications',
    'topics',
    'appearance',
    'privacy',
    'files',
    'data',
    'devices',
] as const

const ORGANIZATION_TABS = [
    'general',
    'messages',
    'joining',
    'defaults',
    'members',
    'invitations',
    'groups',
    'permissions',
    'channels',
    'fields',
    'bots',
    'emoji',
    'linkifiers',
    'reports',
    'mail',
    'exports',
    'holds',
    'directories',
    'audit',
] as const
export type OrganizationTab = (typeof ORGANIZATION_TABS)[number]

export function organizationTabs({ realm, me }: World): OrganizationTab[] {
    const user = realm.users.get(me)
    return ORGANIZATION_TABS.filter(
        (tab) =>
            (tab !== 'invitations' || realm.value('can_invite_others_to_realm', false)) &&
            (!['defaults', 'mail', 'exports'].includes(tab) || user?.is_admin === true) &&
            (!['holds', 'directories', 'audit'].includes(tab) || user?.is_owner === true) &&
            (tab !== 'reports' || reportChannel(realm) !== undefined),
    )
}

/** Where reports of messages are posted, if I am one of those who read them there. */
export function reportChannel(realm: Realm): Channel | undefined {
    const channel = realm.channels.get(realm.value('realm_moderation_request_channel_id', -1))
    return channel?.isSubscribed ? channel : undefined
}
