/** To a day of a place: the server knows which message is the first of it. */
import { hashOf, narrowOf, type TalkPlace } from '../data/place'
import type { World } from '../data/world.svelte'
import { say, sayError } from '../ui/toasts.svelte'
import { t } from '../words/words.svelte'
import { explain } from './explain'
import { go } from './route.svelte'

/** `day` as a date field writes it, `2026-03-09`, in the reader's own zone. Whether something is there. */
export async function jumpTo(world: World, place: TalkPlace, day: string): Promise<boolean> {
    const start = dayStart(day)
    const answer = await world.messages.since(narrowOf(place), start)
    if (!answer.ok) {
        sayError(explain(answer.error))
        return false
    }
    const found = answer.value
    if (!found) {
        sayError(t('jump.nothing'))
        return false
    }
    if (found.timestamp * 1000 < start.getTime()) say(t('jump.later'))
    const target = { ...place, near: found.id }
    const hash = hashOf(target, world.realm.channelName)
    // Where the address is the same already, nothing else would lead back to that message.
    if (hash === location.hash) world.talk(target)
    else go(target, world.realm.channelName)
    return true
}

/** Midnight where the reader is. */
export function dayStart(day: string): Date {
    const [year = 1970, month = 1, date = 1] = day.split('-').map(Number)
    return new Date(year, month - 1, date)
}

/** As a date field writes it; `ago` days before. */
export function dayText(now: Date, ago = 0): string {
    const day = new Date(now.getFullYear(), now.getMonth(), now.getDate() - ago)
    const two = (number: number) => String(number).padStart(2, '0')
    return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`
}
