// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { recording } from '../data/fixtures/recorded'
import { memoryKeep } from '../data/keep'
import { channelMessage, FakeServer, settled } from '../data/testing'
import { World } from '../data/world.svelte'
import { startNotifications } from './start.svelte'
import { notify } from './notices'

interface Shown {
    title: string
    renotify?: boolean
    data: { messageId: number }
    close: () => void
}
let shown: Shown[] = []
const ids = () => shown.map((note) => note.data.messageId)

function pushed(messageId: number): void {
    const note: Shown = { title: '', data: { messageId }, close: () => (shown = shown.filter((each) => each !== note)) }
    shown.push(note)
}

beforeEach(() => {
    vi.useFakeTimers()
    shown = []
    const registration = {
        active: {},
        pushManager: { getSubscription: async () => null },
        getNotifications: async () => shown,
        showNotification: async (title: string, details: Omit<Shown, 'title' | 'close'>) => {
            const note: Shown = { title, ...details, close: () => (shown = shown.filter((each) => each !== note)) }
            shown.push(note)
        },
    }
    const serviceWorker = {
        getRegistration: async () => registration,
        addEventListener: () => {},
        removeEventListener: () => {},
    }
    vi.stubGlobal('navigator', { serviceWorker, languages: [], language: 'en' })
})
afterEach(() => {
    vi.unstubAllGlobals()
    vi.useRealTimers()
})

/** A world in which the messages 1 to 10 are there and unread, with a page that is live. */
async function stage() {
    const server = new FakeServer()
    const world = new World(server.api, memoryKeep())
    const { before } = recording()
    world.realm.load(before)
    world.unread.load(before.unread_msgs)
    const stop = startNotifications(world, { place: () => null, title: () => '', go: () => {} })
    await settled()
    return { world, stop }
}

const happen = (world: World, event: Parameters<World['onEvent']>[0]) => {
    world.unread.apply(event)
    world.onEvent(event)
}
const read = (...messages: number[]) =>
    ({ id: 1, type: 'update_message_flags', op: 'add', flag: 'read', messages, all: false }) as const

it('coming back to a page that slept leaves what it has not heard of yet', async () => {
    const { world, stop } = await stage()
    for (const id of [9, 10, 50]) pushed(id)
    world.unread.apply(read(9))
    document.dispatchEvent(new Event('visibilitychange'))
    await settled()
    expect(ids()).toEqual([10, 50])
    happen(world, { id: 2, type: 'message', message: channelMessage(50), flags: [] })
    happen(world, read(50))
    await settled()
    expect(ids()).toEqual([10])
    stop()
})

it('nothing of what somebody was told is left when they have signed out', async () => {
    const { stop } = await stage()
    pushed(10)
    pushed(50)
    stop()
    await settled()
    expect(shown).toEqual([])
})

it('a newer notice of a conversation is shown like a new one, each message once', async () => {
    const of = { where: '', body: '', icon: '', tag: '#narrow/dm/5', url: '', sender: 'Kofi', userId: 3 }
    const notice = { ...of, messageId: 7 }
    await notify(notice, () => {})
    await notify(notice, () => {})
    expect(shown).toMatchObject([{ title: 'Kofi', renotify: true, tag: '#narrow/dm/5' }])
    await notify({ ...of, messageId: 8 }, () => {})
    expect(shown.at(-1)).toMatchObject({ title: 'Kofi (2)', data: { messageId: 8, messages: [{ id: 7 }, { id: 8 }] } })
})
