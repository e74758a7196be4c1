import { expect, test } from 'vitest'
import type { ApiUser } from '../data/api-types'
import { peopleInOrder } from './people-order'

const user = (user_id: number, full_name: string, more: Partial<ApiUser> = {}) =>
    ({ user_id, full_name, is_bot: false, is_active: true, ...more }) as ApiUser

test('I come first, then who is active, idle, away, and bots; system bots and deactivated people do not come', () => {
    const users = [
        user(1, 'Zoe'),
        user(2, 'Émile'),
        user(3, 'Ada'),
        user(4, 'Bo'),
        user(5, 'Robot', { is_bot: true }),
        user(6, 'Notes', { is_system_bot: true, is_bot: true }),
        user(7, 'Gone', { is_active: false }),
        user(8, 'Me'),
        user(9, 'Eve'),
    ]
    const presence = (id: number) => (id === 3 ? 'idle' : id === 4 ? 'offline' : 'active') as 'active'
    expect(peopleInOrder(users, presence, 8, 'en').map((each) => each.full_name)).toEqual([
        'Me',
        'Émile',
        'Eve',
        'Zoe',
        'Ada',
        'Bo',
        'Robot',
    ])
})

test('people whom I have muted do not come', () => {
    const users = [user(1, 'Zoe'), user(2, 'Ada')]
    expect(peopleInOrder(users, () => 'active', 8, 'en', new Set([1])).map((each) => each.full_name)).toEqual(['Ada'])
})
