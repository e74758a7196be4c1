/** Notifications on the desktop of what comes while the page is there; what is pushed while it is not: sw.js.
 *
 *  Where there is a service worker, it shows them: then those of a page and those that were pushed are of one kind, know of each
 *  other, and a click finds a page. Phones allow no other way. */
import type { Id } from '../data/api-types'
import { SCRIPT } from './push'

export interface Notice {
    title: string
    body: string
    icon: string
    /** The conversation: a newer notice of it takes the place of an older one. As the server tags its pushes. */
    tag: string
    messageId: Id
    /** Where a click leads. */
    url: string
}

/** Those that the page itself shows. */
const shown = new Map<Id, Notification>()

export async function notify(notice: Notice, go: (hash: string) => void): Promise<void> {
    const { title, body, icon, tag, messageId, url } = notice
    // The sound is our own. What takes the place of an older one is shown like a new one.
    const details = { body, icon, tag, renotify: true, silent: true, data: { url, messageId } }
    const worker = await registered()
    if (worker) return showOnce(worker, title, details)
    let note: Notification
    try {
        note = new Notification(title, details)
    } catch {
        // A phone: only service workers may.
        await navigator.serviceWorker.register(SCRIPT)
        return showOnce(await navigator.serviceWorker.ready, title, details)
    }
    shown.set(messageId, note)
    note.addEventListener('close', () => shown.delete(messageId))
    note.addEventListener('click', () => {
        window.focus()
        go(url)
        note.close()
    })
}

/** Unless it was pushed already. */
async function showOnce(
    worker: ServiceWorkerRegistration,
    title: string,
    details: NotificationOptions & { data: { messageId: Id } },
): Promise<void> {
    const others = await worker.getNotifications()
    if (others.some((other) => other.data?.messageId === details.data.messageId)) return
    await worker.showNotification(title, details)
}

/** Take away what is shown of messages that were read since, here or elsewhere. */
export async function closeRead(isUnread: (id: Id) => boolean): Promise<void> {
    for (const [id, note] of shown) if (!isUnread(id)) note.close()
    for (const note of (await (await registered())?.getNotifications()) ?? []) {
        if (!isUnread(note.data?.messageId)) note.close()
    }
}

/** Take away everything: what is shown is of somebody who is not here any more. */
export const closeAll = () => closeRead(() => false)

async function registered(): Promise<ServiceWorkerRegistration | undefined> {
    const found = 'serviceWorker' in navigator ? await navigator.serviceWorker.getRegistration() : undefined
    return found?.active ? found : undefined
}
