/** The usual later times (pure). */
import type { Word } from '../words/words.svelte'

export function soonTimes(now: Date): { word: Word; at: Date }[] {
    const at = (days: number, hour: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour)
    const offers: { word: Word; at: Date }[] = [{ word: 'schedule.hour', at: new Date(now.getTime() + 3_600_000) }]
    if (now.getHours() < 15) offers.push({ word: 'schedule.afternoon', at: at(0, 16) })
    offers.push({ word: 'schedule.tomorrow', at: at(1, 9) })
    const toMonday = (8 - now.getDay()) % 7 || 7
    if (toMonday > 1) offers.push({ word: 'schedule.monday', at: at(toMonday, 9) })
    return offers
}
