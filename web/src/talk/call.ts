/** Calls (pure): where they are held, and the address of a new one. */
import type { Realm } from '../data/realm.svelte'

/** `video_chat_provider`: a Jitsi server. */
const JITSI = 1
const SECRET_BYTES = 16

/** The server for calls of this organization; null: it wants none, or there is none. */
export function callServer(realm: Pick<Realm, 'value'>): string | null {
    if (realm.value('realm_video_chat_provider', 0) !== JITSI) return null
    return realm.value('realm_jitsi_server_url', null) ?? realm.value('server_jitsi_server_url', null)
}

/** A room that was never there before: who knows its address is let in, so nobody may guess it. */
export function newCall(server: string): string {
    const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES))
    return `${server}/call-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
