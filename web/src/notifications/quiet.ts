/** Whether somebody wants quiet now: their quiet hours, by the clock of their time zone, and pauses. Pure. */
import type { ApiUserSettings } from '../data/api-types'
import { dateFormat } from '../ui/formats'

type Quiet = Pick<
    ApiUserSettings,
    | 'notifications_paused_until'
    | 'quiet_hours_days'
    | 'quiet_hours_enabled'
    | 'quiet_hours_end'
    | 'quiet_hours_start'
    | 'timezone'
>

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']

export function isQuiet(settings: Quiet, seconds: number): boolean {
    if (settings.notifications_paused_until > seconds) return true
    if (!settings.quiet_hours_enabled) return false
    const { quiet_hours_start: start, quiet_hours_end: end } = settings
    const { day, minute } = localTime(settings.timezone, seconds)
    // The day is the one on which they begin.
    if (start < end) return isChosen(settings, day) && minute >= start && minute < end
    return (isChosen(settings, day) && minute >= start) || (isChosen(settings, (day + 6) % 7) && minute < end)
}

/** `day` counts from Monday, 0. */
export const isChosen = (settings: Pick<Quiet, 'quiet_hours_days'>, day: number): boolean =>
    ((settings.quiet_hours_days >> day) & 1) === 1

function localTime(timeZone: string, seconds: number): { day: number; minute: number } {
    const format = dateFormat('en-GB', {
        timeZone: timeZone || 'UTC',
        weekday: 'short',
        hour: '2-digit',
        minute: '2-digit',
    })
    const parts = Object.fromEntries(format.formatToParts(seconds * 1000).map((part) => [part.type, part.value]))
    return { day: DAYS.indexOf(parts['weekday'] ?? ''), minute: Number(parts['hour']) * 60 + Number(parts['minute']) }
}
