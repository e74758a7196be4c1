import { expect, test } from 'vitest'
import type { ApiGroup } from '../data/api-types'
import { choices, holders } from './groups'

const group = (id: number, name: string, more: Partial<ApiGroup> = {}) =>
    ({
        id,
        name,
        is_system_group: name.startsWith('role:'),
        deactivated: false,
        members: [],
        direct_subgroup_ids: [],
        ...more,
    }) as unknown as ApiGroup
const all = [
    group(1, 'role:everyone'),
    group(2, 'role:nobody'),
    group(3, 'role:internet'),
    group(4, 'zebras', { members: [10, 11], direct_subgroup_ids: [5] }),
    group(5, 'ants', { members: [11, 12], direct_subgroup_ids: [4] }),
    group(6, 'gone', { deactivated: true }),
    group(7, 'role:members'),
]
const byId = new Map(all.map((each) => [each.id, each]))
const names = (found: ApiGroup[]) => found.map((each) => each.name)

test('roles come first by their reach, then groups by name; deactivated ones and the internet do not come', () => {
    expect(names(choices(all, 1))).toEqual(['role:nobody', 'role:members', 'role:everyone', 'ants', 'zebras'])
})

test('what is chosen now is always there, and only what the rule lets hold it', () => {
    expect(names(choices(all, 6, { allowed_system_groups: ['role:nobody'] }))).toEqual([
        'role:nobody',
        'ants',
        'gone',
        'zebras',
    ])
    expect(names(choices(all, 3, { require_system_group: true, allow_everyone_group: false }))).toEqual([
        'role:nobody',
        'role:members',
        'role:internet',
    ])
    expect(names(choices(all, 7, { allow_nobody_group: false }))).not.toContain('role:nobody')
})

test('everybody who holds it is found through groups of groups, also in a circle', () => {
    expect([...(holders(4, byId) ?? [])].sort()).toEqual([10, 11, 12])
    expect([...(holders({ direct_members: [9], direct_subgroups: [5] }, byId) ?? [])].sort()).toEqual([10, 11, 12, 9])
    expect(holders(2, byId)).toEqual(new Set())
    expect(holders({ direct_members: [9], direct_subgroups: [7] }, byId)).toBeNull()
})
