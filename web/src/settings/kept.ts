/** How long something is kept before it is deleted for good: the times to choose from, and how the server calls them. */
import { t } from '../words/words.svelte'

export const FOR_EVER = -1
const OFFERED = [30, 90, 365, 730, 1825]

export const onTheWire = (days: number): number | 'unlimited' => (days === FOR_EVER ? 'unlimited' : days)

/** With the one that counts now, whatever it is. */
export function keptTimes(now: number): { value: number; text: string }[] {
    return [...new Set([...OFFERED, now])]
        .filter((days) => days > 0)
        .toSorted((one, other) => one - other)
        .map((days) => ({ value: days, text: t('kept.days', { n: days }) }))
        .concat({ value: FOR_EVER, text: t('kept.forever') })
}

/** Whether something that is still there would be deleted. */
export const isShorter = (now: number, wanted: number): boolean =>
    wanted !== FOR_EVER && (now === FOR_EVER || wanted < now)
