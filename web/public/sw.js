/* The service worker: shows what is pushed, does what its buttons say, and opens the place when it is clicked. What is there
 * without a network, and what other programs share with us: sw-shell.js. What is in a push: src/tertulia/notifications/push/model.py.
 *
 * Every push shows something, whatever is open or was read meanwhile: Safari and iOS take the subscription away after three that
 * showed nothing. What is shown of one conversation is one notification. What was read elsewhere goes with the next push that is
 * shown, or when a page wakes (notices.ts). */

self.importScripts('/sw-shell.js')

const API = '/api/v1/'
const MOST_LINES = 5

self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))
self.addEventListener('push', (event) => event.waitUntil(take(event)))
self.addEventListener('notificationclick', (event) => event.waitUntil(answer(event)))

async function take(event) {
    const push = read(event)
    const tag = await show(push)
    // Afterwards, and whatever comes of it: the network may be gone again.
    await tidy(push.userId, tag).catch(() => {})
}

/** What a push says, in one form. Of a declarative one a browser may hand over what it would show itself, instead of the data. */
function read(event) {
    let push = {}
    try {
        push = event.data ? event.data.json() : {}
    } catch {
        // Whatever it was, somebody has to be told.
    }
    const declared = event.notification ?? push.notification ?? {}
    const data = declared.data ?? {}
    const isMessage = push.type === 'message'
    return {
        tag: push.tag ?? declared.tag ?? 'unknown',
        url: push.url ?? data.url ?? '',
        userId: push.user_id ?? data.userId ?? null,
        title: isMessage ? null : (declared.title ?? unknownTitle()),
        where: push.channel ? `#${push.channel} > ${push.topic}` : '',
        icon: push.icon ?? '/static/icon.svg',
        time: (push.timestamp ?? Date.now() / 1000) * 1000,
        words: push.words ?? null,
        message: {
            id: push.message_id ?? data.messageId ?? null,
            name: push.sender_full_name ?? '',
            text: (isMessage ? push.content : declared.body) ?? '',
        },
    }
}

function unknownTitle() {
    return self.navigator?.language?.startsWith('es') ? 'Mensajes nuevos' : 'New messages'
}

async function show(push) {
    const { tag, url, userId, message, words, where, icon } = push
    const [before] = (await self.registration.getNotifications({ tag })).filter((note) => note.tag === tag)
    const told = before?.data?.userId === userId ? messagesOf(before) : []
    const isKnown = message.id !== null && told.some((each) => each.id === message.id)
    const messages = [...told.filter((each) => each.id !== message.id), message].sort((a, b) => a.id - b.id)
    const data = { url, userId, where, words, messageId: messages.at(-1).id, messages: messages.slice(-50) }
    await self.registration.showNotification(push.title ?? titleOf(messages, where), {
        body: bodyOf(messages),
        icon,
        tag,
        // A page that is open may have shown it already: then it is shown again in its place, and nobody is rung twice.
        renotify: !isKnown,
        silent: isKnown,
        timestamp: push.time,
        data,
        ...(words && message.id !== null ? { actions: buttons(words) } : {}),
    })
    return tag
}

/** Those that a notification is about; one shown by a page knows of one only. */
function messagesOf(note) {
    const { messages, messageId } = note.data ?? {}
    return messages ?? (messageId ? [{ id: messageId, name: '', text: note.body }] : [])
}

const namesOf = (messages) => [...new Set(messages.map((each) => each.name).filter(Boolean))]

function titleOf(messages, where) {
    const names = namesOf(messages)
    const who = where && names.length > 1 ? '' : names.join(', ')
    const count = messages.length > 1 ? ` (${messages.length})` : ''
    return [who, where].filter(Boolean).join(' · ') + count
}

function bodyOf(messages) {
    const isNamed = namesOf(messages).length > 1
    const lines = messages.filter((each) => each.text).slice(-MOST_LINES)
    return lines.map((each) => (isNamed && each.name ? `${each.name}: ${each.text}` : each.text)).join('\n')
}

/** Where a browser has no field in a notification, the first opens the conversation. */
function buttons(words) {
    return [
        { action: 'reply', type: 'text', title: words.reply, placeholder: words.reply },
        { action: 'read', title: words.mark_read },
    ]
}

/** Take away what was read elsewhere, but not what this push has just shown, and count anew. */
async function tidy(userId, tag) {
    if (userId === null || !(await sessionOf(userId))) return
    const notes = (await self.registration.getNotifications()).filter((note) => note.data?.messageId)
    const ids = [...new Set(notes.flatMap((note) => messagesOf(note).map((each) => each.id)))].slice(-200)
    const state = await (await fetch(`${API}users/me/unread?message_ids=${JSON.stringify(ids)}`)).json()
    if (state.result !== 'success') return
    const unread = new Set(state.unread_message_ids)
    for (const note of notes) {
        if (note.tag !== tag && !messagesOf(note).some((each) => unread.has(each.id))) note.close()
    }
    await self.navigator?.setAppBadge?.(state.badge_count)
}

async function answer(event) {
    const { notification, action } = event
    const { data } = notification
    notification.close()
    if (action === 'read') return markRead(notification)
    if (action === 'reply' && event.reply) return reply(notification, event.reply)
    return open(data?.url ?? '')
}

async function markRead(notification) {
    const { userId } = notification.data
    const messages = messagesOf(notification).map((each) => each.id)
    const isDone = await post(userId, 'messages/flags', { messages, op: 'add', flag: 'read' })
    if (isDone) await tidy(userId, null).catch(() => {})
    else await again(notification, notification.title, notification.body)
}

async function reply(notification, text) {
    const { userId, messageId, words } = notification.data
    const isDone = await answerTo(userId, messageId, text).catch(() => false)
    if (isDone) await markRead(notification)
    else await again(notification, words?.failed ?? notification.title, text)
}

/** Where the message is by now: its topic may have another name. */
async function answerTo(userId, messageId, content) {
    if (!(await sessionOf(userId))) return false
    const found = await (await fetch(`${API}messages/${messageId}?allow_empty_topic_name=true`)).json()
    if (found.result !== 'success') return false
    const { type, stream_id, subject, display_recipient } = found.message
    const to =
        type === 'stream'
            ? { type: 'channel', to: stream_id, topic: subject }
            : { type: 'direct', to: display_recipient.map((each) => each.id) }
    // A reply that is tried again is sent once.
    return post(
        userId,
        'messages',
        { ...to, content },
        { 'Idempotency-Key': `push-${messageId}-${await digest(content)}` },
    )
}

async function digest(text) {
    const bytes = await self.crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
    return [...new Uint8Array(bytes).slice(0, 8)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** It did not work: what was there is shown again, and says so. */
function again(notification, title, body) {
    const { icon, tag, data } = notification
    return self.registration.showNotification(title, {
        body,
        icon,
        tag,
        data,
        actions: data.words && buttons(data.words),
    })
}

/** The session of this browser, if it is that of whom the push was for: nobody answers in the name of another. */
async function sessionOf(userId) {
    const session = await (await fetch(`${API}sessions/current`)).json()
    return session.result === 'success' && session.user_id === userId ? session : null
}

async function post(userId, path, params, more = {}) {
    try {
        const session = await sessionOf(userId)
        if (!session) return false
        const headers = { 'Content-Type': 'application/json', 'X-CSRF-Token': session.csrf_token, ...more }
        return (await fetch(API + path, { method: 'POST', headers, body: JSON.stringify(params) })).ok
    } catch {
        return false
    }
}

async function open(hash) {
    const [page] = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
    if (!page) return self.clients.openWindow('/' + hash)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a client of the worker has none
    page.postMessage({ type: 'go', hash })
    return page.focus()
}
