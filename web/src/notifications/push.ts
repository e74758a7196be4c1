/** Web Push: this browser is told of messages while no page of ours is open. The subscription lives in the browser; the server
 *  knows it for as long as the session that told it, so it is told again with each start. */
import type { Answer, Api } from '../data/api'

/** impossible: the browser has no such thing, or the page is not secure. refused: its owner said no. */
export type PushState = 'impossible' | 'refused' | 'off' | 'on'

export const SCRIPT = '/sw.js'
const PATH = 'users/me/push_subscriptions'

export async function pushState(): Promise<PushState> {
    if (!isPossible()) return 'impossible'
    if (Notification.permission === 'denied') return 'refused'
    return Notification.permission === 'granted' && (await subscription()) ? 'on' : 'off'
}

/** Ask for leave, subscribe, and tell the server. Only after somebody pressed a button for it. */
export async function turnOnPush(api: Api): Promise<PushState> {
    if (!isPossible()) return 'impossible'
    if ((await Notification.requestPermission()) !== 'granted') return 'refused'
    const key = await api.get<{ public_key: string }>(`${PATH}/key`)
    if (!key.ok) return 'off'
    await navigator.serviceWorker.register(SCRIPT)
    const { pushManager } = await navigator.serviceWorker.ready
    const wanted = bytesOf(key.value.public_key)
    const known = await pushManager.getSubscription()
    // One made for another key, of a server that was here before, hears nothing from us.
    if (known && !isSame(known.options.applicationServerKey, wanted)) await known.unsubscribe()
    const made = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: wanted })
    return (await tell(api, made)) ? 'on' : 'off'
}

export async function turnOffPush(api: Api): Promise<PushState> {
    const known = isPossible() ? await subscription() : null
    if (known) {
        await api.delete(PATH, { endpoint: known.endpoint })
        await known.unsubscribe()
    }
    return pushState()
}

export async function tryPush(api: Api): Promise<Answer<object>> {
    const known = isPossible() ? await subscription() : null
    return api.post(`${PATH}/test`, { endpoint: known?.endpoint ?? '' })
}

/** With each start: a browser that is subscribed belongs to whoever is signed in now. Gives what ends listening to clicks. */
export function keepPush(api: Api, go: (hash: string) => void): () => void {
    if (!isPossible()) return () => {}
    void subscription().then((known) => {
        if (known && Notification.permission === 'granted') void tell(api, known)
    })
    const hear = (event: MessageEvent) => {
        if (event.data?.type === 'go' && typeof event.data.hash === 'string') go(event.data.hash)
    }
    navigator.serviceWorker.addEventListener('message', hear)
    return () => navigator.serviceWorker.removeEventListener('message', hear)
}

function isPossible(): boolean {
    return 'serviceWorker' in navigator && 'PushManager' in globalThis && 'Notification' in globalThis
}

async function subscription(): Promise<PushSubscription | null> {
    const registration = await navigator.serviceWorker.getRegistration()
    return (await registration?.pushManager.getSubscription()) ?? null
}

async function tell(api: Api, made: PushSubscription): Promise<boolean> {
    const { endpoint, keys } = made.toJSON()
    return (await api.post(PATH, { endpoint, p256dh: keys?.['p256dh'], auth: keys?.['auth'] })).ok
}

export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
    const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(plain, (letter) => letter.charCodeAt(0))
}

function isSame(one: ArrayBuffer | null, other: Uint8Array): boolean {
    const bytes = new Uint8Array(one ?? new ArrayBuffer(0))
    return bytes.length === other.length && bytes.every((byte, at) => byte === other[at])
}
