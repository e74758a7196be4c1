/** The audit log, as it is read (pure): what an entry says in words, and what is asked for. */
import { t, type Word } from '../../words/words.svelte'
import { ROLES } from './roles'

export interface Entry {
    id: number
    timestamp: number
    act: string
    actor_id: number | null
    actor_name: string | null
    key_id: number | null
    session_id: number | null
    address: string | null
    user_agent: string | null
    target: { type: string; id: number; name: string | null } | null
    changes: Record<string, [before: unknown, after: unknown]>
    is_erased: boolean
}
export interface Filters {
    act: string
    by: number | undefined
    about: number | undefined
    /** Days, as a date field has them. */
    since: string
    until: string
}

/** What is sent to the server. A day begins where the reader is. */
export function paramsOf(filters: Filters): Record<string, string | number> {
    const params: Record<string, string | number> = {}
    if (filters.act) params['act'] = filters.act
    if (filters.by !== undefined) params['actor_id'] = filters.by
    if (filters.about !== undefined) Object.assign(params, { target_type: 'user', target_id: filters.about })
    const [since, until] = [startOf(filters.since, 0), startOf(filters.until, 1)]
    if (since !== undefined) params['since'] = since
    if (until !== undefined) params['until'] = until
    return params
}

function startOf(day: string, daysLater: number): number | undefined {
    const [year, month, date] = day.split('-').map(Number)
    if (!year || !month || !date) return undefined
    return new Date(year, month - 1, date + daysLater).getTime() / 1000
}

export const actWord = (act: string): string => wordOr(`audit.act.${act}`, act)

/** What a change is of. Settings are noted by the names the API has for them, a list that grows: these are shown as they are. */
const nameWord = (name: string): string => wordOr(`audit.name.${name}`, name.replaceAll('_', ' '))

function wordOr(key: string, otherwise: string): string {
    const text = t(key as Word)
    return text === key ? otherwise : text
}

export function whoDid(entry: Entry): string {
    if (entry.actor_id !== null) return entry.actor_name ?? `#${entry.actor_id}`
    return entry.address === null && !entry.is_erased ? t('audit.server') : t('audit.nobody')
}

/** Whom or what it concerns, if that is not who did it. */
export function toWhom(entry: Entry): string {
    const { target } = entry
    if (!target || target.type === 'organization') return ''
    if (target.type === 'user' && target.id === entry.actor_id) return ''
    return target.name ?? `${target.type} #${target.id}`
}

/** What is said by ids of people. */
const OF_PEOPLE = new Set(['members', 'users', 'add', 'remove', 'sender', 'bot_owner_id'])

export function changesOf(entry: Entry, nameOf: (id: number) => string): string[] {
    return Object.entries(entry.changes).map(([name, [before, after]]) => {
        const shown = nameWord(name)
        const say = (value: unknown) => said(name, value, nameOf)
        if (before === null && after === null) return t('audit.changed', { name: shown })
        if (before === null) return t('audit.fact', { name: shown, after: say(after) })
        return t('audit.change', { name: shown, before: say(before), after: say(after) })
    })
}

function said(name: string, value: unknown, nameOf: (id: number) => string): string {
    const role = name === 'role' ? ROLES.find((each) => each.role === value) : undefined
    if (role) return t(role.word)
    if (value === null || value === '') return t('audit.empty')
    if (typeof value === 'boolean') return t(value ? 'audit.yes' : 'audit.no')
    if (typeof value === 'number') return OF_PEOPLE.has(name) ? nameOf(value) : String(value)
    if (Array.isArray(value) && value.every((each) => typeof each !== 'object'))
        return value.map((each) => said(name, each, nameOf)).join(', ') || t('audit.empty')
    return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
