/** The service worker of a browser: what it shows, and pressing that. */
import type { BrowserContext, Worker } from '@playwright/test'

/** In a service worker. */
interface WorkerScope extends EventTarget {
    registration: ServiceWorkerRegistration
    NotificationEvent: new (
        type: string,
        given: { notification: Notification; action?: string | undefined; reply?: string | null },
    ) => Event
}

export const workerOf = async (context: BrowserContext): Promise<Worker> =>
    context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'))

/** Its notifications. */
export const shownBy = (worker: Worker) =>
    worker.evaluate(async () => {
        const { registration } = self as unknown as WorkerScope
        return (await registration.getNotifications()).map(({ title, body, tag }) => ({ title, body, tag }))
    })

/** As if somebody pressed a button of the only notification, or the notification itself. */
export const press = (worker: Worker, action: string, reply?: string) =>
    worker.evaluate(
        async ([chosen, text]) => {
            const scope = self as unknown as WorkerScope
            const [notification] = await scope.registration.getNotifications()
            if (!notification) throw new Error('nothing is shown')
            const given = { notification, action: chosen, reply: text ?? null }
            const event = new scope.NotificationEvent('notificationclick', given)
            // Not every browser has fields in notifications.
            if (text && !Reflect.get(event, 'reply')) Object.defineProperty(event, 'reply', { value: text })
            scope.dispatchEvent(event)
        },
        [action, reply] as [string, string | undefined],
    )
