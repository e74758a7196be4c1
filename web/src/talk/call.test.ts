import { expect, it } from 'vitest'
import type { Realm } from '../data/realm.svelte'
import { callServer, newCall } from './call'

const realm = (values: Record<string, unknown>) =>
    ({ value: (name: string, otherwise: unknown) => values[name] ?? otherwise }) as unknown as Realm

it('offers a call only where the organization wants calls and there is a server for them', () => {
    const server = { server_jitsi_server_url: 'https://meet.example.com' }
    const own = { realm_jitsi_server_url: 'https://calls.example.org' }
    expect(callServer(realm({ realm_video_chat_provider: 1, ...server }))).toBe('https://meet.example.com')
    expect(callServer(realm({ realm_video_chat_provider: 1, ...server, ...own }))).toBe('https://calls.example.org')
    expect(callServer(realm({ realm_video_chat_provider: 0, ...server, ...own }))).toBeNull()
    expect(callServer(realm({ realm_video_chat_provider: 1 }))).toBeNull()
})

it('makes addresses of calls that nobody guesses', () => {
    const calls = new Set(Array.from({ length: 50 }, () => newCall('https://meet.example.com')))
    expect(calls.size).toBe(50)
    for (const call of calls) expect(call).toMatch(/^https:\/\/meet\.example\.com\/call-[0-9a-f]{32}$/)
})
