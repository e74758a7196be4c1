/** Notifications on the desktop of what comes while the page is there; what is pushed while it is not: sw.js.
 *
 *  Where there is a service worker, it shows them: then those of a page and those that were pushed are of one kind, know of each
 *  other, and a click finds a page. Phones allow no other way. */
import type { Id } from '../data/api-types'
import { SCRIPT } from './push'

const MOST_LINES = 5

export interface Notice {
    body: string
    icon: string
    /** The conversation: a newer notice of it takes the place of an older one. As the server tags its pushes. */
    tag: string
    messageId: Id
    sender: string
    /** The channel and topic; empty in direct messages. */
    where: string
    /** Whom it is for: nobody else's is added to it. */
    userId: Id
    /** Where a click leads. */
    url: string
}

/** What a notification carries along; those that were pushed have the same (sw.js). */
interface Carried {
    url: string
    userId: Id
    messageId: Id
    where: string
    messages: NoticeLine[]
}

interface NoticeLine {
    id: Id
    name: string
    text: string
}

/** Those that the page itself shows. */
const shown = new Map<Id, Notification>()

export async function notify(notice: Notice, go: (hash: string) => void): Promise<void> {
    const { body, icon, tag, messageId, url, userId, sender, where } = notice
    const messages = [{ id: messageId, name: sender, text: body }]
    // The sound is our own. What takes the place of an older one is shown like a new one.
    const details = { body, icon, tag, renotify: true, silent: true, data: { url, userId, where, messageId, messages } }
    const worker = await registered()
    if (worker) return showOnce(worker, details)
    let note: Notification
    try {
        note = new Notification(titleOf(messages, where), details)
    } catch {
        // A phone: only service workers may.
        await navigator.serviceWorker.register(SCRIPT)
        return showOnce(await navigator.serviceWorker.ready, details)
    }
    shown.set(messageId, note)
    note.addEventListener('close', () => shown.delete(messageId))
    note.addEventListener('click', () => {
        window.focus()
        go(url)
        note.close()
    })
}

/** Unless it was pushed already. It takes the place of an older one of the conversation, and remembers what that told of. */
async function showOnce(
    worker: ServiceWorkerRegistration,
    details: NotificationOptions & { data: Carried },
): Promise<void> {
    const others = await worker.getNotifications()
    if (others.some((other) => idsOf(other).includes(details.data.messageId))) return
    const { data, tag } = details
    const before = others.find((other) => other.tag === tag && other.data?.userId === data.userId)
    const messages = [...((before?.data as Carried | undefined)?.messages ?? []), ...data.messages]
    const shown = { ...details, body: bodyOf(messages), data: { ...data, messages } }
    await worker.showNotification(titleOf(messages, data.where), shown)
}

// As sw.js says it: whichever of the two comes last, it is the same.

const namesOf = (messages: NoticeLine[]) => [...new Set(messages.map((each) => each.name).filter(Boolean))]

function titleOf(messages: NoticeLine[], where: string): string {
    const names = namesOf(messages)
    const who = where && names.length > 1 ? '' : names.join(', ')
    const count = messages.length > 1 ? ` (${messages.length})` : ''
    return [who, where].filter(Boolean).join(' · ') + count
}

function bodyOf(messages: NoticeLine[]): string {
    const isNamed = namesOf(messages).length > 1
    const lines = messages.filter((each) => each.text).slice(-MOST_LINES)
    return lines.map((each) => (isNamed && each.name ? `${each.name}: ${each.text}` : each.text)).join('\n')
}

/** Take away what is shown of messages that were read since, here or elsewhere. */
export async function closeRead(isUnread: (id: Id) => boolean): Promise<void> {
    for (const [id, note] of shown) if (!isUnread(id)) note.close()
    for (const note of (await (await registered())?.getNotifications()) ?? []) {
        if (!idsOf(note).some(isUnread)) note.close()
    }
}

/** The messages that a notification tells of: one that was pushed may be about several of one conversation. */
function idsOf(note: Notification): Id[] {
    const { messages, messageId } = (note.data ?? {}) as { messages?: { id: Id }[]; messageId?: Id }
    return messages?.map((each) => each.id) ?? (messageId === undefined ? [] : [messageId])
}

/** Take away everything: what is shown is of somebody who is not here any more. */
export const closeAll = () => closeRead(() => false)

async function registered(): Promise<ServiceWorkerRegistration | undefined> {
    const found = 'serviceWorker' in navigator ? await navigator.serviceWorker.getRegistration() : undefined
    return found?.active ? found : undefined
}
