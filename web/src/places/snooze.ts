/** A conversation is put off: read now, and the notification bot reminds of it at a later time. */
import type { UnreadTalk } from '../data/unread.svelte'
import type { World } from '../data/world.svelte'
import { unreadAgain } from '../page/mark-read'
import { setReminder } from '../page/remind'
import { momentText } from '../ui/times'
import { say, sayError } from '../ui/toasts.svelte'
import { language, t } from '../words/words.svelte'

/** `at`: in seconds. The reminder comes first, so that nothing is forgotten if the second step fails. */
export async function snooze(world: World, talk: UnreadTalk, at: number): Promise<void> {
    const ids = [...talk.ids]
    const forget = await setReminder(world, talk.newest, at)
    if (!forget) return
    if (!(await world.reads.readAll(talk.place))) return sayError(t('places.failed'))
    const undo = async () => {
        await Promise.all([unreadAgain(world, ids), forget()])
    }
    say(t('places.snoozed', { when: momentText(at, language()) }), { text: t('ui.undo'), run: () => void undo() })
}
