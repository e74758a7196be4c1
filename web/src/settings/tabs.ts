/** The pages of my settings and of the organization: which there are for somebody. */
import type { World } from '../data/world.svelte'

export const OWN_TABS = [
    'profile',
    'account',
    'notifications',
    'topics',
    'appearance',
    'privacy',
    'data',
    'devices',
] as const

const ORGANIZATION_TABS = [
    'general',
    'messages',
    'joining',
    'members',
    'invitations',
    'groups',
    'permissions',
    'channels',
    'fields',
    'bots',
    'emoji',
    'linkifiers',
    'mail',
    'exports',
    'holds',
    'audit',
] as const
export type OrganizationTab = (typeof ORGANIZATION_TABS)[number]

export function organizationTabs({ realm, me }: World): OrganizationTab[] {
    const user = realm.users.get(me)
    return ORGANIZATION_TABS.filter(
        (tab) =>
            (tab !== 'invitations' || realm.value('can_invite_others_to_realm', false)) &&
            (!['mail', 'exports'].includes(tab) || user?.is_admin === true) &&
            (!['holds', 'audit'].includes(tab) || user?.is_owner === true),
    )
}
