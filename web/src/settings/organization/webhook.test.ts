import { expect, it } from 'vitest'
import { webhookAddress } from './webhook'

it('names the service, the key, and what was chosen', () => {
    const all = { service: 'github', key: 'k', channel: 'dev & ops', topic: 'pushes', events: ['push'] }
    expect(webhookAddress('https://chat.example/', all)).toBe(
        'https://chat.example/api/v1/external/github?api_key=k&stream=dev+%26+ops&topic=pushes&only_events=%5B%22push%22%5D',
    )
})

it('has no topic without a channel: then the owner is told directly', () => {
    expect(webhookAddress('https://chat.example', { service: 'github', key: 'k', topic: 'pushes' })).toBe(
        'https://chat.example/api/v1/external/github?api_key=k',
    )
})
