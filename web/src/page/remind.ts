/** Reminders of messages: the notification bot brings a message back at a time that was chosen. */
import type { World } from '../data/world.svelte'
import { momentText } from '../ui/times'
import { say, sayError } from '../ui/toasts.svelte'
import { language, t } from '../words/words.svelte'
import { explain } from './explain'

/** `at`: in seconds. How to take it back, or null if it was refused, which is said. */
export async function setReminder(world: World, messageId: number, at: number): Promise<(() => Promise<void>) | null> {
    const set = await world.api.post<{ reminder_id: number }>('reminders', {
        message_id: messageId,
        scheduled_delivery_timestamp: at,
    })
    if (!set.ok) {
        sayError(explain(set.error))
        return null
    }
    return () => dropReminder(world, set.value.reminder_id)
}

export async function dropReminder(world: World, reminderId: number): Promise<void> {
    const gone = await world.api.delete(`reminders/${reminderId}`)
    if (!gone.ok) sayError(explain(gone.error))
}

export async function remind(world: World, messageId: number, at: number): Promise<void> {
    const undo = await setReminder(world, messageId, at)
    if (!undo) return
    say(t('remind.done', { when: momentText(at, language()) }), { text: t('ui.undo'), run: () => void undo() })
}
