/** The organization's own fields of a profile: what their types are, and how what people say in them is shown (pure). */
import type { ApiExternalAccount, ApiProfileField, ApiUser } from '../data/api-types'
import type { Word } from '../words/words.svelte'

export const TYPE = { text: 1, long: 2, list: 3, date: 4, link: 5, people: 6, account: 7, pronouns: 8 } as const
export const TYPE_WORDS: Record<number, Word> = {
    [TYPE.text]: 'field.type.text',
    [TYPE.long]: 'field.type.long',
    [TYPE.list]: 'field.type.list',
    [TYPE.date]: 'field.type.date',
    [TYPE.link]: 'field.type.link',
    [TYPE.people]: 'field.type.people',
    [TYPE.account]: 'field.type.account',
    [TYPE.pronouns]: 'field.type.pronouns',
}
/** The most characters that a field of the type holds. */
export const LONGEST: Record<number, number> = {
    [TYPE.text]: 50,
    [TYPE.long]: 500,
    [TYPE.link]: 2000,
    [TYPE.account]: 50,
    [TYPE.pronouns]: 50,
}

export interface AccountKind {
    subtype: string
    url_pattern?: string
}
const USERNAME = '%(username)s'

function dataOf<T>(field: ApiProfileField, otherwise: T): T {
    try {
        return field.field_data ? (JSON.parse(field.field_data) as T) : otherwise
    } catch {
        return otherwise
    }
}

/** The options of a list, in their order. */
export function optionsOf(field: ApiProfileField): { value: string; text: string }[] {
    const choices = dataOf<Record<string, { text: string; order: string }>>(field, {})
    return Object.entries(choices)
        .sort(([, a], [, b]) => Number(a.order) - Number(b.order))
        .map(([value, { text }]) => ({ value, text }))
}

/** Options as the server wants them: those that were there keep their key, so that what people chose stays chosen. */
export function choicesFrom(
    texts: readonly string[],
    before: readonly { value: string; text: string }[],
): Record<string, { text: string; order: string }> {
    const keys = new Map(before.map((option) => [option.text, option.value]))
    let last = Math.max(-1, ...before.map((option) => Number(option.value)).filter((key) => Number.isInteger(key)))
    return Object.fromEntries(
        texts.map((text, index) => [keys.get(text) ?? String((last += 1)), { text, order: String(index + 1) }]),
    )
}

export const accountOf = (field: ApiProfileField): AccountKind => dataOf<AccountKind>(field, { subtype: 'custom' })

/** Where an account or a link leads; empty if nowhere. Only what is harmless to follow. */
export function addressOf(field: ApiProfileField, value: string, accounts: Record<string, ApiExternalAccount>): string {
    let address = value
    if (field.type === TYPE.account) {
        const { subtype, url_pattern } = accountOf(field)
        const pattern = url_pattern || accounts[subtype]?.url_pattern || ''
        address = pattern && pattern.replace(USERNAME, encodeURIComponent(value))
    }
    return /^https?:\/\//.test(address) ? address : ''
}

/** The ids in a field of people. */
export function peopleOf(value: string): number[] {
    try {
        const ids: unknown = JSON.parse(value || '[]')
        return Array.isArray(ids) ? ids.filter((id) => typeof id === 'number') : []
    } catch {
        return []
    }
}

export function dateText(value: string, language: string): string {
    const date = new Date(`${value}T00:00:00Z`)
    if (Number.isNaN(date.getTime())) return value
    return new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(date)
}

export const valueOf = (user: ApiUser | undefined, field: ApiProfileField): string =>
    user?.profile_data?.[String(field.id)]?.value ?? ''

export function inOrder(fields: readonly ApiProfileField[]): ApiProfileField[] {
    return [...fields].sort((a, b) => a.order - b.order)
}
