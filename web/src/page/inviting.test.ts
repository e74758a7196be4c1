import { expect, it } from 'vitest'
import type { World } from '../data/world.svelte'
import { linksForManyWork, mayInvite } from './inviting'

/** Of somebody who has the right to invite. */
function worldWith(sendsMail: boolean, isAdmin: boolean, byProvider = false): World {
    const values: Record<string, unknown> = {
        settings_send_digest_emails: sendsMail,
        can_invite_others_to_realm: true,
        realm_authentication_methods: { 'openid connect': { enabled: byProvider, available: byProvider } },
    }
    const realm = {
        value: (name: string, otherwise: unknown) => values[name] ?? otherwise,
        users: new Map([[1, { is_admin: isAdmin }]]),
    }
    return { realm, me: 1 } as unknown as World
}

it('a link for many is offered where a mail or a provider says whose an address is', () => {
    expect(linksForManyWork(worldWith(true, false))).toBe(true)
    expect(linksForManyWork(worldWith(false, true))).toBe(false)
    expect(linksForManyWork(worldWith(false, false, true))).toBe(true)
})

it('where no mail is sent, only administrators are led to invitations', () => {
    expect(mayInvite(worldWith(true, false))).toBe(true)
    expect(mayInvite(worldWith(false, false))).toBe(false)
    expect(mayInvite(worldWith(false, true))).toBe(true)
})
