/** Times as people say them (pure, but for the reader's hours): relative up to a day, then dates; `exactTime` is for hovering, with the zone. */
import { timeFormat } from './clock.svelte'
import { dateFormat, relativeFormat } from './formats'

const DAY = 86_400

/** The clock time of a message, `14:05` or `2:05`: where there is no room for the half of the day. */
export function clockTime(seconds: number, locale: string): string {
    return timeFormat(locale, { hour: 'numeric', minute: '2-digit' })
        .formatToParts(seconds * 1000)
        .filter((part) => part.type !== 'dayPeriod')
        .map((part) => part.value)
        .join('')
        .trim()
}

/** `3 minutes ago`, then `Tuesday`, then `3 Mar`, then with the year. */
export function saidTime(seconds: number, now: number, locale: string): string {
    const ago = now - seconds
    const relative = relativeFormat(locale, { numeric: 'auto', style: 'short' })
    if (ago < 45) return relative.format(0, 'second')
    if (ago < 3600) return relative.format(-Math.max(1, Math.round(ago / 60)), 'minute')
    if (ago < DAY) return relative.format(-Math.round(ago / 3600), 'hour')
    return saidDate(seconds, now, locale)
}

/** The day of a message for a bar: `Today`, `Yesterday`, `Tuesday, 3 March`, with the year where it is another. */
export function saidDay(seconds: number, now: number, locale: string): string {
    const days = daysBetween(seconds, now)
    if (days === 0 || days === 1) {
        const text = relativeFormat(locale, { numeric: 'auto' }).format(-days, 'day')
        return text.charAt(0).toLocaleUpperCase(locale) + text.slice(1)
    }
    const sameYear = new Date(seconds * 1000).getFullYear() === new Date(now * 1000).getFullYear()
    return dateFormat(locale, {
        weekday: 'long',
        day: 'numeric',
        month: 'long',
        ...(sameYear ? {} : { year: 'numeric' }),
    }).format(seconds * 1000)
}

export function exactTime(seconds: number, locale: string): string {
    return timeFormat(locale, { dateStyle: 'full', timeStyle: 'long' }).format(seconds * 1000)
}

/** A day and a time that somebody chose, in words; `dateStyle` as Intl knows it. */
export function momentText(seconds: number, locale: string, dateStyle: 'medium' | 'full' = 'medium'): string {
    return timeFormat(locale, { dateStyle, timeStyle: 'short' }).format(seconds * 1000)
}

/** The name of a day of the week, 0 for Monday. */
export function dayName(day: number, locale: string): string {
    // 2024 began on a Monday.
    return dateFormat(locale, { weekday: 'long', timeZone: 'UTC' }).format(Date.UTC(2024, 0, 1 + day))
}

/** The local calendar day a moment falls on, as a number that grows by one each day. */
export function dayNumber(seconds: number): number {
    const date = new Date(seconds * 1000)
    return Math.floor(Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / 86_400_000)
}

function saidDate(seconds: number, now: number, locale: string): string {
    if (daysBetween(seconds, now) < 7) return dateFormat(locale, { weekday: 'long' }).format(seconds * 1000)
    const sameYear = new Date(seconds * 1000).getFullYear() === new Date(now * 1000).getFullYear()
    return dateFormat(locale, { day: 'numeric', month: 'short', ...(sameYear ? {} : { year: 'numeric' }) }).format(
        seconds * 1000,
    )
}

function daysBetween(seconds: number, now: number): number {
    return dayNumber(now) - dayNumber(seconds)
}
