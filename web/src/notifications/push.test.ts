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
        user_id: 3,
        sender_full_name: 'Ines',
        channel: 'quay',
        topic: 'tea',
        content: 'ready',
        icon: '/avatar/5',
        tag: '#narrow/channel/1-quay/topic/tea',
        url: '#narrow/channel/1-quay/topic/tea/near/7',
        timestamp: 10,
        words: { reply: 'Reply', mark_read: 'Mark as read', failed: 'Not sent' },
    }
    interface Note {
        title: string
        tag: string
        body: string
        renotify?: boolean
        silent?: boolean
        actions?: { action: string }[]
        data: Record<string, unknown>
        close: () => void
    }

    /** What it shows and opens, with these windows; the server answers as `server` says. */
    function worker(
        windows: { focused: boolean; posted?: unknown[] }[],
        server: (path: string, body: unknown) => object | null = () => null,
    ) {
        const hears: Record<string, (event: unknown) => void> = {}
        let shown: Note[] = []
        const opened: string[] = []
        const badges: number[] = []
        const asked: [string, unknown][] = []
        const self = {
            addEventListener: (kind: string, hear: (event: unknown) => void) => (hears[kind] = hear),
            importScripts: () => {},
            crypto: globalThis.crypto,
            navigator: { language: 'en', setAppBadge: async (count: number) => void badges.push(count) },
            registration: {
                showNotification: async (title: string, details: Omit<Note, 'title' | 'close'>) => {
                    const note = { title, ...details, close: () => (shown = shown.filter((each) => each !== note)) }
                    shown = [...shown.filter((each) => each.tag !== note.tag), note]
                },
                getNotifications: async () => shown,
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
        const fetch = async (path: string, init: { body?: string } = {}) => {
            const body = init.body === undefined ? null : JSON.parse(init.body)
            asked.push([path.replace('/api/v1/', ''), body])
            const answer = server(path.replace('/api/v1/', ''), body)
            return { ok: answer !== null, json: async () => ({ result: answer ? 'success' : 'error', ...answer }) }
        }
        // oxlint-disable-next-line no-implied-eval: it is a file of ours
        new Function('self', 'fetch', readFileSync('public/sw.js', 'utf-8'))(self, fetch)
        const happen = async (kind: string, event: object) => {
            let done: unknown
            hears[kind]!({ ...event, waitUntil: (promise: unknown) => (done = promise) })
            await done
        }
        return {
            notes: () => shown,
            opened,
            badges,
            asked,
            happen,
            push: (data: object | null) =>
                happen('push', { data: data && { json: () => data }, ...(data ? {} : { notification: null }) }),
        }
    }

    it('shows every push, also while a page is looked at, and rings once for a message', async () => {
        for (const focused of [false, true]) {
            const here = worker([{ focused }])
            await here.push(push)
            expect(here.notes()).toMatchObject([{ title: 'Ines · #quay > tea', body: 'ready', renotify: true }])
            await here.push(push)
            expect(here.notes()).toMatchObject([{ title: 'Ines · #quay > tea', renotify: false, silent: true }])
        }
    })

    it('shows something also of a push that it cannot read', async () => {
        const here = worker([])
        await here.push(null)
        await here.happen('push', {
            data: {
                json: () => {
                    throw new SyntaxError('no JSON')
                },
            },
        })
        await here.push({ type: 'of a newer server', tag: 'new' })
        expect(here.notes().map((note) => note.title)).toEqual(['New messages', 'New messages'])
        await here.happen('push', { data: null, notification: { title: 'Declared', body: 'text', tag: 'd', data: {} } })
        expect(here.notes().at(-1)).toMatchObject({ title: 'Declared', body: 'text', tag: 'd' })
    })

    it('makes one notification of a conversation, in the order in which it was said', async () => {
        const here = worker([])
        await here.push({ ...push, message_id: 9, content: 'third' })
        await here.push(push)
        expect(here.notes()).toMatchObject([{ title: 'Ines · #quay > tea (2)', body: 'ready\nthird' }])
        await here.push({ ...push, message_id: 8, sender_full_name: 'Kofi', content: 'second' })
        expect(here.notes()).toMatchObject([
            { title: '#quay > tea (3)', body: 'Ines: ready\nKofi: second\nInes: third' },
        ])
        await here.push({ ...push, message_id: 10, tag: 'another', content: 'else' })
        expect(here.notes()).toHaveLength(2)
    })

    const signedIn = { user_id: 3, csrf_token: 'token' }

    it('takes away what was read elsewhere with the next push, never that push itself, and counts anew', async () => {
        const here = worker([], (path) => {
            if (path === 'sessions/current') return signedIn
            return path.startsWith('users/me/unread') ? { badge_count: 4, unread_message_ids: [8] } : null
        })
        const tags = () => here.notes().map((note) => note.tag)
        await here.push({ ...push, message_id: 6, tag: 'read elsewhere' })
        await here.push({ ...push, message_id: 8, tag: 'unread' })
        expect(tags()).toEqual(['unread'])
        await here.push({ ...push, message_id: 9, tag: 'last' })
        expect(tags()).toEqual(['unread', 'last'])
        expect(here.badges.at(-1)).toBe(4)
    })

    async function pressed(action: string, reply: string | undefined, server: Parameters<typeof worker>[1]) {
        const here = worker([], server)
        await here.push(push)
        here.asked.length = 0
        const [notification] = here.notes()
        expect(notification!.actions!.map((each) => each.action)).toEqual(['reply', 'read'])
        await here.happen('notificationclick', { notification, action, reply })
        return here
    }
    const flags = ['messages/flags', { messages: [7], op: 'add', flag: 'read' }]

    it('marks as read what it showed', async () => {
        const here = await pressed('read', undefined, (path) =>
            path === 'sessions/current' ? signedIn : path === 'messages/flags' ? {} : null,
        )
        expect(here.asked).toContainEqual(flags)
        expect(here.notes()).toEqual([])
        expect(here.opened).toEqual([])
    })

    it('sends a reply to where the message is by now, or says that it did not', async () => {
        const message = { type: 'stream', stream_id: 1, subject: 'tea, renamed' }
        const server = (path: string) =>
            path === 'sessions/current' ? signedIn : path.startsWith('messages/7') ? { message } : {}
        const sent = await pressed('reply', 'coming', server)
        const body = { type: 'channel', to: 1, topic: 'tea, renamed', content: 'coming' }
        expect(sent.asked).toContainEqual(['messages', body])
        expect(sent.asked).toContainEqual(flags)
        const failed = await pressed('reply', 'coming', (path) => (path === 'messages' ? null : server(path)))
        expect(failed.notes()).toMatchObject([{ title: 'Not sent', body: 'coming', tag: push.tag }])
    })

    it('does nothing in the name of somebody else', async () => {
        const here = await pressed('read', undefined, (path) =>
            path === 'sessions/current' ? { ...signedIn, user_id: 4 } : {},
        )
        expect(here.asked.every(([path]) => path === 'sessions/current')).toBe(true)
        expect(here.notes()).toHaveLength(1)
    })

    it('opens the place where a browser has no field for a reply', async () => {
        expect((await pressed('reply', undefined, () => null)).opened).toEqual(['/' + push.url])
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
