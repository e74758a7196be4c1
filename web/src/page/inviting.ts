/** How I can bring people in: by mail, or, where the server sends none, with a link for each person, as somebody who vouches for them. */
import type { World } from '../data/world.svelte'

/** Whether this server sends mail at all. */
export const mailsLeave = ({ realm }: World): boolean => realm.value('settings_send_digest_emails', true)

/** A link for many leads to a mail, or to a provider that knows people's addresses. */
export const linksForManyWork = (world: World): boolean =>
    mailsLeave(world) || (world.realm.value('realm_authentication_methods', {})['openid connect']?.enabled ?? false)

export function mayInvite(world: World): boolean {
    const isAdmin = world.realm.users.get(world.me)?.is_admin ?? false
    return world.realm.value('can_invite_others_to_realm', false) && (isAdmin || linksForManyWork(world))
}
