/* The service worker: shows what is pushed while no page of ours is looked at, and opens the place when it is clicked.
 * It keeps nothing and answers no requests. What is in a push: src/tertulia/pushes/model.py. */

self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))
self.addEventListener('push', (event) => {
    if (event.data) event.waitUntil(show(event.data.json()))
})
self.addEventListener('notificationclick', (event) => {
    event.notification.close()
    event.waitUntil(open(event.notification.data.url))
})

async function show(push) {
    const windows = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
    // A page that is looked at tells of it by itself, and browsers let a push pass without a notification then.
    if (push.type !== 'message' || windows.some((each) => each.focused)) return
    // So does one in the background, if the browser let it: live/notices.ts.
    const others = await self.registration.getNotifications()
    if (others.some((other) => other.data?.messageId === push.message_id)) return
    const where = push.channel === null ? '' : ` · #${push.channel} > ${push.topic}`
    await self.registration.showNotification(push.sender_full_name + where, {
        body: push.content ?? '',
        icon: push.icon,
        tag: push.tag,
        renotify: true,
        timestamp: push.timestamp * 1000,
        data: { url: push.url, messageId: push.message_id },
    })
}

async function open(hash) {
    const [page] = await self.clients.matchAll({ type: 'window', includeUncontrolled: true })
    if (!page) return self.clients.openWindow('/' + hash)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a client of the worker has none
    page.postMessage({ type: 'go', hash })
    return page.focus()
}
