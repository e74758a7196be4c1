/** The browser's leave to notify is asked for when it explains itself: somebody was just written to or mentioned, and would not have
 *  been told elsewhere. Whoever says "not now" is not asked again in this browser. */
import type { Why } from './deserves'

const NAME = 'tertulia:notifications-asked'
let isDue = $state(false)

/** Whether it is the moment: reactive. */
export const isAskingDue = (): boolean => isDue

/** A message came that the reader would want to be told of. */
export function cameFor(why: Why): void {
    if (why !== 'direct' && why !== 'mention') return
    if ('Notification' in globalThis && Notification.permission === 'default' && !wasAsked()) isDue = true
}

/** The question was answered, either way. */
export function asked(): void {
    isDue = false
    try {
        localStorage.setItem(NAME, 'yes')
    } catch {
        // It is asked again at the next visit, then.
    }
}

function wasAsked(): boolean {
    try {
        return localStorage.getItem(NAME) !== null
    } catch {
        return false
    }
}
