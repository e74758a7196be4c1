/** Groups as somebody chooses one for a permission: the roles first, in the order of their reach, then the named groups (pure). */
import type { ApiGroup, GroupSetting, Id } from '../data/api-types'
import type { Word } from '../words/words.svelte'

export const ROLE_WORDS: Record<string, Word> = {
    'role:nobody': 'group.nobody',
    'role:owners': 'group.owners',
    'role:administrators': 'group.administrators',
    'role:moderators': 'group.moderators',
    'role:fullmembers': 'group.fullmembers',
    'role:members': 'group.members',
    'role:everyone': 'group.everyone',
    'role:internet': 'group.internet',
}

/** `allowed`: names of system groups that may hold it; all but the whole internet otherwise. */
export function choices(groups: Iterable<ApiGroup>, now: GroupSetting, allowed?: readonly string[]): ApiGroup[] {
    const order = Object.keys(ROLE_WORDS)
    const roles: ApiGroup[] = []
    const named: ApiGroup[] = []
    for (const group of groups) {
        const isNow = group.id === now
        if (group.is_system_group) {
            const fits = allowed ? allowed.includes(group.name) : group.name !== 'role:internet'
            if (fits || isNow) roles.push(group)
        } else if (!group.deactivated || isNow) named.push(group)
    }
    roles.sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name))
    named.sort((a, b) => a.name.localeCompare(b.name))
    return [...roles, ...named]
}

/** People and groups chosen one by one, as names; null if it is one group. */
export function peopleIn(
    setting: GroupSetting,
    names: { user: (id: Id) => string; group: (id: Id) => string },
): string[] | null {
    if (typeof setting === 'number') return null
    return [...setting.direct_members.map(names.user), ...setting.direct_subgroups.map(names.group)]
}
