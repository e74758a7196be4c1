/** Who holds a permission, as somebody chooses it: the roles first, in the order of their reach, then the named groups (pure). */
import type { ApiGroup, ApiPermissionRule, GroupSetting, Id } from '../data/api-types'
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
/** Roles that say themselves who has them. */
const WIDE = new Set(['role:fullmembers', 'role:members', 'role:everyone', 'role:internet'])

/** What the server publishes of a permission (`server_supported_permission_settings`), if it knows it. */
export type Rule = Partial<ApiPermissionRule>

/** Whether a group may hold the permission at all; the server has the last word. */
function fits(group: ApiGroup, rule: Rule): boolean {
    if (!group.is_system_group) return !group.deactivated && !rule.require_system_group
    if (rule.allowed_system_groups?.length) return rule.allowed_system_groups.includes(group.name)
    if (group.name === 'role:internet') return rule.allow_internet_group ?? false
    if (group.name === 'role:everyone') return rule.allow_everyone_group ?? true
    return group.name !== 'role:nobody' || (rule.allow_nobody_group ?? true)
}

/** The groups to choose from; what is chosen now is always among them. */
export function choices(groups: Iterable<ApiGroup>, now: GroupSetting, rule: Rule = {}): ApiGroup[] {
    const order = Object.keys(ROLE_WORDS)
    const found = [...groups].filter((group) => group.id === now || fits(group, rule))
    return [
        ...found.filter((group) => group.is_system_group).sort((a, b) => order.indexOf(a.name) - order.indexOf(b.name)),
        ...found.filter((group) => !group.is_system_group).sort((a, b) => a.name.localeCompare(b.name)),
    ]
}

/** Everybody who holds it, through groups of groups; null if its name says that (everyone, members). */
export function holders(setting: GroupSetting, groups: ReadonlyMap<Id, ApiGroup>): Set<Id> | null {
    const people = new Set<Id>()
    const seen = new Set<Id>()
    const waiting = typeof setting === 'number' ? [setting] : [...setting.direct_subgroups]
    if (typeof setting !== 'number') for (const id of setting.direct_members) people.add(id)
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
        const group = groups.get(id)
        if (!group || seen.has(id)) continue
        if (WIDE.has(group.name)) return null
        seen.add(id)
        for (const member of group.members) people.add(member)
        waiting.push(...group.direct_subgroup_ids)
    }
    return people
}
