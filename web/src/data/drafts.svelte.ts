/** What is being written in each conversation. Kept in the browser with every change, and on the server a little later.
 *
 *  A conversation has one draft. What the server does not have yet is `unsaved`: it survives a reload in the browser's storage
 *  and is sent when the server is there again; an event never overwrites it, nor does the echo of what we saved overwrite what was
 *  saved later. What is found in the storage may be another tab's that is being written on: it is left to it while it changes, and
 *  what the server says of it counts here. One that was sent or thrown away is kept as an empty one until the server has deleted it. */
import { SvelteMap } from 'svelte/reactivity'
import type { Api } from './api'
import type { ApiDraft, ApiEvent, Id } from './api-types'
import { readJson, type Keep } from './keep'
import { directPlace, keyOf, type TalkPlace } from './place'
import type { SendPlace } from './outbox.svelte'

export interface Draft {
    key: string
    /** Null: not addressed to anybody yet, by another client. */
    place: SendPlace | null
    content: string
    /** Seconds. */
    timestamp: number
    serverId: Id | null
    unsaved: boolean
}

const PREFIX = 'tertulia:draft:'
const LOOSE = 'tertulia:loose:'
const SAVE_AFTER_MS = 2000
/** Longer than a tab that is there takes. */
const ADOPT_AFTER_MS = 2 * SAVE_AFTER_MS

export class Drafts {
    readonly #api: Api
    readonly #keep: Keep
    readonly #byKey = new SvelteMap<string, Draft>()
    readonly #timers = new Map<string, ReturnType<typeof setTimeout>>()
    readonly #saving = new Set<string>()
    /** Keys of what was found in the storage and is not ours yet. */
    readonly #found = new Set<string>()
    /** By key: texts of ours that events are still to tell of, the oldest first. */
    readonly #echoes = new Map<string, string[]>()
    #me: Id = 0
    #loose = $state('')
    #isStopped = false
    isSynchronized: () => boolean = () => true
    /** Does this in one tab after the other. */
    inTurn: (name: string, work: () => Promise<void>) => Promise<void> = inTurn

    /** The one edited last comes first; empty ones are none. */
    readonly all: readonly Draft[] = $derived(
        [...this.#byKey.values()]
            .filter((draft) => draft.content.trim() !== '')
            .sort((a, b) => b.timestamp - a.timestamp),
    )

    constructor(api: Api, keep: Keep) {
        this.#api = api
        this.#keep = keep
    }

    load(me: Id, drafts: readonly ApiDraft[]): void {
        if (me !== this.#me) this.#loose = this.#keep.get(LOOSE + me) ?? ''
        this.#me = me
        const unsaved = this.#keep.names(this.#prefix).flatMap((name) => readJson<Draft>(this.#keep, name) ?? [])
        const ours = new Set(unsaved.filter((draft) => this.#isOurs(draft)))
        this.#byKey.clear()
        this.#echoes.clear()
        this.#found.clear()
        for (const draft of drafts) this.#take(draft)
        for (const draft of unsaved) {
            if (!this.#find(draft)) continue
            if (ours.has(draft)) this.#later(draft.key)
            else this.#adoptLater(draft.key)
        }
    }

    /** Whether what is in the storage was written in this tab. */
    #isOurs({ key, content }: Draft): boolean {
        const known = this.#byKey.get(key)
        return known !== undefined && known.unsaved && known.content === content && !this.#found.has(key)
    }

    get #prefix(): string {
        return `${PREFIX}${this.#me}:`
    }

    /** What is being written to nobody yet. Only this browser keeps it. */
    get loose(): string {
        return this.#loose
    }
    set loose(content: string) {
        this.#loose = content
        if (content === '') this.#keep.delete(LOOSE + this.#me)
        else this.#keep.set(LOOSE + this.#me, content)
    }

    textOf(place: SendPlace): string {
        return this.#byKey.get(keyOf(place))?.content ?? ''
    }

    /** Every change of the text comes here. */
    write(place: SendPlace, content: string): void {
        const key = keyOf(place)
        const old = this.#byKey.get(key)
        if ((old?.content ?? '') === content) return
        const draft: Draft = {
            key,
            place,
            content,
            timestamp: Math.floor(Date.now() / 1000),
            serverId: old?.serverId ?? null,
            unsaved: true,
        }
        this.#put(draft)
        this.#later(key)
    }

    #put(draft: Draft): void {
        this.#found.delete(draft.key)
        this.#byKey.set(draft.key, draft)
        this.#keep.set(this.#prefix + draft.key, JSON.stringify(draft))
    }

    /** It was sent, or thrown away. */
    clear(place: SendPlace): void {
        this.remove(keyOf(place))
    }

    /** What was being written there is for another place now; behind what is being written there already. */
    move(from: SendPlace, to: SendPlace): void {
        const text = this.textOf(from)
        if (text.trim() === '' || keyOf(from) === keyOf(to)) return
        this.write(to, [this.textOf(to), text].filter((each) => each.trim() !== '').join('\n\n'))
        this.clear(from)
    }

    remove(key: string): void {
        const draft = this.#byKey.get(key)
        if (!draft) return
        this.#stop(key)
        if (this.#saving.has(key) || (draft.serverId !== null && this.isSynchronized())) {
            // Its number may be on the way, or the server away: emptied now, deleted there as soon as may be.
            this.#put({ ...draft, content: '', unsaved: true })
            void this.#save(key)
        } else this.#forget(key)
    }

    #forget(key: string): void {
        this.#found.delete(key)
        this.#byKey.delete(key)
        this.#keep.delete(this.#prefix + key)
    }

    /** Save what is unsaved now: the page is being left, or the server is back. */
    async flush(): Promise<void> {
        const unsaved = [...this.#byKey].filter(([key, draft]) => draft.unsaved && !this.#found.has(key))
        await Promise.all(unsaved.map(([key]) => this.#save(key)))
    }

    /** Nothing goes out any more: whoever signs in next is somebody else. What is unsaved stays in the browser. */
    stop(): void {
        this.#isStopped = true
        for (const key of this.#timers.keys()) this.#stop(key)
    }

    #later(key: string): void {
        this.#stop(key)
        if (this.#isStopped) return
        this.#timers.set(
            key,
            setTimeout(() => void this.#save(key), SAVE_AFTER_MS),
        )
    }

    /** Whether there is something to save: not if what was to be deleted is gone, and another is there. */
    #find(draft: Draft): boolean {
        const serverId = this.#byKey.get(draft.key)?.serverId ?? null
        if (draft.content === '' && draft.serverId !== null && draft.serverId !== serverId) {
            this.#keep.delete(this.#prefix + draft.key)
            return false
        }
        this.#byKey.set(draft.key, { ...draft, serverId, unsaved: true })
        return true
    }

    /** What was found in the browser is saved by us if nobody else does. */
    #adoptLater(key: string): void {
        this.#stop(key)
        if (this.#isStopped) return
        this.#found.add(key)
        const name = this.#prefix + key
        const before = this.#keep.get(name)
        const adopt = async () => {
            // Written here meanwhile.
            if (!this.#found.has(key) || this.#isStopped) return
            const now = readJson<Draft>(this.#keep, name)
            if (now === null || !this.#find(now)) this.#leave(key)
            else if (this.#keep.get(name) === before) {
                this.#found.delete(key)
                await this.#save(key)
            } else this.#adoptLater(key)
        }
        // Tabs that were opened together find the same: what one of them saved, the next does not find any more.
        this.#timers.set(
            key,
            setTimeout(() => void this.inTurn(name, adopt), ADOPT_AFTER_MS),
        )
    }

    /** Another tab saved it, or threw it away. */
    #leave(key: string): void {
        this.#found.delete(key)
        const known = this.#byKey.get(key)
        if (known?.unsaved && known.serverId === null) this.#byKey.delete(key)
        else if (known) this.#byKey.set(key, { ...known, unsaved: false })
    }

    #stop(key: string): void {
        clearTimeout(this.#timers.get(key))
        this.#timers.delete(key)
    }

    async #save(key: string): Promise<void> {
        this.#stop(key)
        const draft = this.#byKey.get(key)
        if (!draft?.unsaved || this.#isStopped || !this.isSynchronized() || this.#saving.has(key)) return
        this.#saving.add(key)
        if (draft.content.trim()) this.#echoes.set(key, [...(this.#echoes.get(key) ?? []), draft.content.trimEnd()])
        const saved = await this.#store(draft)
        this.#saving.delete(key)
        if (!saved) {
            this.#isEcho(key, draft.content)
            return
        }
        const now = this.#byKey.get(key)
        if (!now) return
        if (now.content === draft.content) {
            this.#byKey.set(key, { ...now, serverId: saved.serverId, unsaved: false })
            this.#keep.delete(this.#prefix + key)
            if (saved.serverId === null) this.#byKey.delete(key)
        } else {
            // Written on meanwhile.
            this.#byKey.set(key, { ...now, serverId: saved.serverId })
            this.#later(key)
        }
    }

    /** The number the server knows it by afterwards; null altogether if it did not take it. */
    async #store(draft: Draft): Promise<{ serverId: Id | null } | null> {
        const { place, serverId, timestamp } = draft
        if (draft.content.trim() === '') {
            if (serverId === null) return { serverId: null }
            const answer = await this.#api.delete(`drafts/${serverId}`)
            return answer.ok || answer.error.kind === 'refused' ? { serverId: null } : null
        }
        if (place === null) return null
        const kept = {
            type: place.kind === 'topic' ? 'stream' : 'private',
            to: place.kind === 'topic' ? [place.channelId] : place.userIds,
            topic: place.kind === 'topic' ? place.topic : '',
            content: draft.content,
            timestamp,
        }
        if (serverId !== null) {
            const answer = await this.#api.patch(`drafts/${serverId}`, { draft: kept })
            if (answer.ok) return { serverId }
            if (answer.error.kind !== 'refused') return null
            // Deleted elsewhere: it is a new one.
        }
        const answer = await this.#api.post<{ ids: Id[] }>('drafts', { drafts: [kept] })
        return answer.ok ? { serverId: answer.value.ids[0] ?? null } : null
    }

    // Events

    apply(event: ApiEvent): void {
        if (event.type !== 'drafts') return
        switch (event.op) {
            case 'add':
                for (const draft of event.drafts) this.#take(draft)
                break
            case 'update':
                this.#take(event.draft)
                break
            case 'remove':
                this.#removed(event.draft_id)
        }
    }

    #take(draft: ApiDraft): void {
        const place = this.#placeOf(draft)
        const key = place ? keyOf(place) : `loose:${draft.id}`
        for (const [other, known] of this.#byKey) {
            // Addressed to somebody else now.
            if (known.serverId === draft.id && other !== key && !known.unsaved) this.#byKey.delete(other)
        }
        const own = this.#byKey.get(key)
        const isWritten = own?.unsaved && !this.#found.has(key)
        if (this.#isEcho(key, draft.content) || isWritten || this.#saving.has(key)) {
            if (own && own.serverId === null && !this.#saving.has(key))
                this.#byKey.set(key, { ...own, serverId: draft.id })
            return
        }
        const isNewer = own && own.serverId !== null && own.serverId > draft.id && own.timestamp >= draft.timestamp
        if (isNewer && !this.#found.has(key)) return
        const { content, timestamp } = draft
        this.#byKey.set(key, { key, place, content, timestamp, serverId: draft.id, unsaved: false })
    }

    /** Whether we saved this ourselves; if so, nobody waits for it, or for what was before, any longer. */
    #isEcho(key: string, content: string): boolean {
        const ours = this.#echoes.get(key) ?? []
        const at = ours.indexOf(content.trimEnd())
        if (at !== -1) this.#echoes.set(key, ours.slice(at + 1))
        return at !== -1
    }

    #removed(id: Id): void {
        for (const [key, draft] of this.#byKey) {
            if (draft.serverId !== id) continue
            if (draft.unsaved && draft.content === '') this.#forget(key)
            else if (draft.unsaved) this.#byKey.set(key, { ...draft, serverId: null })
            else this.#byKey.delete(key)
        }
    }

    #placeOf(draft: ApiDraft): SendPlace | null {
        const [first] = draft.to
        if (draft.type === 'stream' && first !== undefined)
            return { kind: 'topic', channelId: first, topic: draft.topic }
        if (draft.type === 'private' && draft.to.length) return directPlace(draft.to, this.#me) as SendPlace
        return null
    }
}

async function inTurn(name: string, work: () => Promise<void>): Promise<void> {
    const locks: LockManager | undefined = globalThis.navigator?.locks
    await (locks ? locks.request(name, work) : work())
}

/** Where a text written at this place goes; in a channel without a topic chosen, to the topic without a name. */
export function sendPlaceOf(place: TalkPlace): SendPlace | null {
    if (place.kind === 'topic' || place.kind === 'direct') return place
    return place.kind === 'channel' ? { kind: 'topic', channelId: place.channelId, topic: '' } : null
}
