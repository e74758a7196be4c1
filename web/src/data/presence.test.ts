import { expect, it } from 'vitest'
import type { Api } from './api'
import type { InitialState } from './api-types'
import { Presence } from './presence.svelte'

it('nobody is shown as here where the organization does not want it, from that moment', () => {
    const now = Date.now() / 1000
    const presence = new Presence({} as Api)
    let isShown = true
    presence.isShown = () => isShown
    presence.load({
        presences: { 7: { active_timestamp: now, idle_timestamp: now } },
        presence_last_update_id: 3,
        server_timestamp: now,
    } as unknown as InitialState)
    expect([presence.of(7), presence.lastSeen(7)]).toEqual(['active', now])
    isShown = false
    expect([presence.of(7), presence.lastSeen(7)]).toEqual(['offline', null])
})
