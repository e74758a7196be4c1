/** The time now, as state that moves every half minute: what says "3 min. ago" reads it and stays true. And how hours are told. */
import { dateFormat } from './formats'

let seconds = $state(Math.floor(Date.now() / 1000))

setInterval(() => (seconds = Math.floor(Date.now() / 1000)), 30_000)

export const now = (): number => seconds

let isTwentyFour = $state(false)

/** How the reader wants hours to be told: a setting of theirs. */
export function tellHours(twentyFour: boolean): void {
    isTwentyFour = twentyFour
}

/** A format with a time of day, in the reader's hours. */
export function timeFormat(locale: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
    return dateFormat(locale, { ...options, hourCycle: isTwentyFour ? 'h23' : 'h12' })
}
