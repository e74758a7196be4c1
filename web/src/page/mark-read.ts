/** Everything in a place is read: at once, and whoever did not mean it takes it back. */
import type { TalkPlace } from '../data/place'
import type { World } from '../data/world.svelte'
import { say, sayError } from '../ui/toasts.svelte'
import { t } from '../words/words.svelte'

export async function markRead(world: World, place: TalkPlace | 'everything'): Promise<void> {
    const ids = world.unread.idsIn(place)
    if (!(await world.reads.readAll(place))) sayError(t('places.failed'))
    else if (ids.length) {
        say(t('places.read.done', { n: ids.length }), { text: t('ui.undo'), run: () => void unreadAgain(world, ids) })
    }
}

export async function unreadAgain(world: World, ids: readonly number[]): Promise<void> {
    if (!(await world.reads.unreadAgain(ids))) sayError(t('places.failed'))
}
