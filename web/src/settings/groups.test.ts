import { expect, test } from 'vitest'
import type { ApiGroup } from '../data/api-types'
import { choices, peopleIn } from './groups'

const group = (id: number, name: string, more: Partial<ApiGroup> = {}) =>
    ({ id, name, is_system_group: name.startsWith('role:'), deactivated: false, ...more }) as ApiGroup
const all = [
    group(1, 'role:everyone'),
    group(2, 'role:nobody'),
    group(3, 'role:internet'),
    group(4, 'zebras'),
    group(5, 'ants'),
    group(6, 'gone', { deactivated: true }),
    group(7, 'role:members'),
]
const names = (found: ApiGroup[]) => found.map((each) => each.name)

test('roles come first by their reach, then groups by name; deactivated ones and the internet do not come', () => {
    expect(names(choices(all, 1))).toEqual(['role:nobody', 'role:members', 'role:everyone', 'ants', 'zebras'])
})

test('what is chosen now is always there, and only roles that are allowed', () => {
    expect(names(choices(all, 6, ['role:nobody']))).toEqual(['role:nobody', 'ants', 'gone', 'zebras'])
    expect(names(choices(all, 3, []))).toEqual(
        ['role:internet', 'ants', 'gone', 'zebras'].filter((each) => each !== 'gone'),
    )
})

test('people chosen one by one are named', () => {
    const asked = { user: (id: number) => `person ${id}`, group: (id: number) => `group ${id}` }
    expect(peopleIn({ direct_members: [1], direct_subgroups: [2] }, asked)).toEqual(['person 1', 'group 2'])
    expect(peopleIn(4, asked)).toBeNull()
})
