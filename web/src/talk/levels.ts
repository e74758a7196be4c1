/** How much one hears of a channel, as one choice (pure): the server keeps it as several properties of the subscription. */
import type { ApiOwnSubscription } from '../data/api-types'

export const LEVELS = ['all', 'settings', 'mentions', 'muted'] as const
export type Level = (typeof LEVELS)[number]

const NOTICES = ['desktop_notifications', 'push_notifications'] as const
type Property = (typeof NOTICES)[number] | 'is_muted'
type Own = Pick<ApiOwnSubscription, Property>

const VALUES = { all: true, settings: null, mentions: false } as const

/** Null where somebody chose something between these in the channel's settings. */
export function levelOf(channel: Own): Level | null {
    if (channel.is_muted) return 'muted'
    const fits = (level: keyof typeof VALUES) => NOTICES.every((notice) => channel[notice] === VALUES[level])
    return LEVELS.find((level) => level !== 'muted' && fits(level)) ?? null
}

/** What to change, so that a channel has this level; a muted one keeps what it was besides. */
export function changesTo(channel: Own, level: Level): [Property, boolean | null][] {
    const wanted: [Property, boolean | null][] =
        level === 'muted'
            ? [['is_muted', true]]
            : [...NOTICES.map((notice): [Property, boolean | null] => [notice, VALUES[level]]), ['is_muted', false]]
    return wanted.filter(([property, value]) => channel[property] !== value)
}
