// @vitest-environment happy-dom
import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Api } from '../data/api'
import { closeRead } from './notices'
import { bytesOf, keepPush, pushState, turnOffPush, turnOnPush } from './push'

/** A browser with a push service behind it. */
class Browser {
    permission = 'default'
    answer = 'granted'
    known: ReturnType<Browser['made']> | null = null
    shown: { data: { messageId: number }; close: () => void }[] = []
    listeners: ((event: { data: unknown }) => void)[] = []
    number = 0

    constructor() {
        const pushManager = {
            getSubscription: async () => this.known,
            subscribe: async (options: { applicationServerKey: Uint8Array }) => {
                this.known ??= this.made(options.applicationServerKey)
                return this.known
            },
        }
        const registration = { pushManager, active: {}, getNotifications: async () => this.shown }
        const serviceWorker = {
            register: vi.fn(async () => registration),
            ready: Promise.resolve(registration),
            getRegistration: async () => registration,
            addEventListener: (_: string, hear: (event: { data: unknown }) => void) => this.listeners.push(hear),
            removeEventListener: () => (this.listeners = []),
        }
        const requestPermission = async () => (this.permission = this.answer)
        vi.stubGlobal('navigator', { serviceWorker })
        vi.stubGlobal('PushManager', Object)
        const notification = { requestPermission }
        Object.defineProperty(notification, 'permission', { get: () => this.permission })
        vi.stubGlobal('Notification', notification)
    }

    made(key: Uint8Array) {
        const endpoint = `https://push.example.com/${++this.number}`
        return {
            endpoint,
            options: { applicationServerKey: key.buffer },
            toJSON: () => ({ endpoint, keys: { p256dh: 'point', auth: 'secret' } }),
            unsubscribe: async () => (this.known = null),
        }
    }
}

function serverWith(key = 'AQID') {
    const asked: unknown[] = []
    const answer = async (...question: unknown[]) => {
        asked.push(question)
        return { ok: true, value: { public_key: key } }
    }
    return { asked, api: { get: answer, post: answer, delete: answer } as unknown as Api }
}

let browser: Browser
beforeEach(() => {
    browser = new Browser()
})

describe('turning push on', () => {
    it('asks, subscribes with the key of the server, and tells it', async () => {
        const { api, asked } = serverWith()
        expect(await pushState()).toBe('off')
        expect(await turnOnPush(api)).toBe('on')
        expect(await pushState()).toBe('on')
        const told = { endpoint: 'https://push.example.com/1', p256dh: 'point', auth: 'secret' }
        expect(asked).toEqual([['users/me/push_subscriptions/key'], ['users/me/push_subscriptions', told]])
        expect([...new Uint8Array(browser.known!.options.applicationServerKey)]).toEqual([1, 2, 3])
    })

    it('subscribes anew where a subscription is for another key', async () => {
        await turnOnPush(serverWith().api)
        await turnOnPush(serverWith().api)
        expect(browser.known!.endpoint).toMatch(/1$/)
        await turnOnPush(serverWith('BAUG').api)
        expect(browser.known!.endpoint).toMatch(/2$/)
    })

    it('does nothing where its owner says no, or the browser has no such thing', async () => {
        browser.answer = 'denied'
        const { api, asked } = serverWith()
        expect(await turnOnPush(api)).toBe('refused')
        expect(await pushState()).toBe('refused')
        vi.stubGlobal('navigator', {})
        expect(await turnOnPush(api)).toBe('impossible')
        expect(asked).toEqual([])
    })
})

it('turning push off tells the server and the browser', async () => {
    const { api, asked } = serverWith()
    await turnOnPush(api)
    expect(await turnOffPush(api)).toBe('off')
    expect(asked.at(-1)).toEqual(['users/me/push_subscriptions', { endpoint: 'https://push.example.com/1' }])
    expect(browser.known).toBeNull()
})

it('each start tells the server of the subscription, and a click on a notification leads somewhere', async () => {
    await turnOnPush(serverWith().api)
    const { api, asked } = serverWith()
    const went: string[] = []
    const stop = keepPush(api, (hash) => went.push(hash))
    await vi.waitFor(() => expect(asked).toHaveLength(1))
    browser.listeners[0]!({ data: { type: 'go', hash: '#narrow/dm/5' } })
    browser.listeners[0]!({ data: 'something else' })
    expect(went).toEqual(['#narrow/dm/5'])
    stop()
    expect(browser.listeners).toEqual([])
})

it('what was read is taken away', async () => {
    const closed: number[] = []
    browser.shown = [1, 2].map((messageId) => ({ data: { messageId }, close: () => closed.push(messageId) }))
    await closeRead((id) => id === 2)
    expect(closed).toEqual([1])
})

it('keys are read as the web writes them', () => {
    expect([...bytesOf('-_8')]).toEqual([251, 255])
})

describe('the service worker', () => {
    const push = {
        type: 'message',
        message_id: 7,
        sender_full_name: 'Ines',
        channel: 'quay',
        topic: 'tea',
        content: 'ready',
        icon: '/avatar/5',
        tag: '#narrow/channel/1-quay/topic/tea',
        url: '#narrow/channel/1-quay/topic/tea/near/7',
        timestamp: 10,
    }

    /** What it shows and opens, with these windows. */
    function worker(windows: { focused: boolean; posted?: unknown[] }[]) {
        const hears: Record<string, (event: unknown) => void> = {}
        const shown: [string, { data: unknown; body: string }][] = []
        const opened: string[] = []
        const self = {
            addEventListener: (kind: string, hear: (event: unknown) => void) => (hears[kind] = hear),
            registration: {
                showNotification: async (...note: [string, never]) => shown.push(note),
                getNotifications: async () => shown.map(([, details]) => details),
            },
            clients: {
                matchAll: async () =>
                    windows.map((each) => ({
                        focused: each.focused,
                        postMessage: (data: unknown) => each.posted?.push(data),
                        focus: async () => each,
                    })),
                openWindow: async (url: string) => opened.push(url),
            },
        }
        // oxlint-disable-next-line no-implied-eval: it is a file of ours
        new Function('self', readFileSync('public/sw.js', 'utf-8'))(self)
        const happen = async (kind: string, event: object) => {
            let done: unknown
            hears[kind]!({ ...event, waitUntil: (promise: unknown) => (done = promise) })
            await done
        }
        return { shown, opened, happen }
    }

    it('shows a push, unless a page is looked at', async () => {
        const away = worker([{ focused: false }])
        await away.happen('push', { data: { json: () => push } })
        await away.happen('push', { data: { json: () => push } })
        expect(away.shown).toHaveLength(1)
        expect(away.shown[0]![0]).toBe('Ines · #quay > tea')
        expect(away.shown[0]![1].body).toBe('ready')
        const here = worker([{ focused: true }])
        await here.happen('push', { data: { json: () => push } })
        expect(here.shown).toEqual([])
    })

    it('opens the place, in a window that is there or in a new one', async () => {
        const notification = { data: { url: push.url }, close: () => {} }
        const none = worker([])
        await none.happen('notificationclick', { notification })
        expect(none.opened).toEqual(['/' + push.url])
        const posted: unknown[] = []
        await worker([{ focused: false, posted }]).happen('notificationclick', { notification })
        expect(posted).toEqual([{ type: 'go', hash: push.url }])
    })
})
