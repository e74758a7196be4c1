// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from 'vitest'
import { recording } from './fixtures/recorded'
import type { ApiMessage, InitialState } from './api-types'
import { LastRead } from './last-read'

const before = recording().before

/** The store of a browser, as far as it is used: caches that keep their order, and are lost to others when they are deleted. */
class Stores {
    readonly caches = new Map<string, Map<string, string>>()

    async open(name: string): Promise<Cache> {
        if (!this.caches.has(name)) this.caches.set(name, new Map())
        const held = this.caches.get(name)!
        const pathOf = (asked: unknown) =>
            typeof asked === 'string' ? asked : new URL((asked as { url: string }).url).pathname
        return {
            match: async (asked: unknown) => {
                const found = held.get(pathOf(asked))
                return found === undefined ? undefined : new Response(found)
            },
            put: async (asked: unknown, response: Response) => void held.set(pathOf(asked), await response.text()),
            delete: async (asked: unknown) => held.delete(pathOf(asked)),
            keys: async () => [...held.keys()].map((path) => ({ url: `https://chat.example.com${path}` })),
        } as unknown as Cache
    }

    delete = async (name: string) => this.caches.delete(name)
}

const stateOf = (user_id: number) => ({ ...before, user_id }) as unknown as InitialState
const messagesOf = (count: number, text = 'hello') =>
    Array.from({ length: count }, (_, id) => ({ id, content: text })) as unknown as ApiMessage[]

let stores: Stores
let kept: LastRead
beforeEach(() => {
    stores = new Stores()
    kept = new LastRead(stores)
})

describe('what was read last', () => {
    it('is bounded: the newest messages of the conversations that were read last', async () => {
        await kept.keepState(stateOf(3))
        for (let talk = 0; talk < 20; talk += 1) await kept.keepTalk(3, `topic ${talk}`, messagesOf(250))
        await kept.keepTalk(3, 'topic 12', messagesOf(1))
        expect(await kept.talk('topic 7')).toEqual([])
        expect((await kept.talk('topic 19')).map((each) => each.id)).toEqual(
            messagesOf(250)
                .slice(150)
                .map(({ id }) => id),
        )
        expect(await kept.talk('topic 12')).toHaveLength(1)
        expect(stores.caches.get('tertulia-last-read')!.size).toBe(13)
    })

    it('keeps nothing that is too large', async () => {
        await kept.keepState(stateOf(3))
        await kept.keepTalk(3, 'long', messagesOf(100, 'x'.repeat(50_000)))
        expect(await kept.talk('long')).toEqual([])
    })

    it('is of one person, and goes when somebody else comes or they leave', async () => {
        await kept.keepState(stateOf(3))
        await kept.keepTalk(3, 'diary', messagesOf(1))
        await kept.keepTalk(4, 'of another', messagesOf(1))
        expect(await kept.talk('of another')).toEqual([])
        await kept.keepState(stateOf(4))
        expect(await kept.talk('diary')).toEqual([])
        await (await stores.open('tertulia-shared')).put('/shared/text', new Response('[]'))
        await kept.forget()
        expect([await kept.state(), stores.caches.has('tertulia-shared')]).toEqual([null, false])
        await kept.keepTalk(4, 'too late', messagesOf(1))
        expect(await kept.talk('too late')).toEqual([])
    })

    it('is not of who leaves while it is being kept', async () => {
        const keeping = kept.keepState(stateOf(3))
        await Promise.all([keeping, kept.forget()])
        expect(await kept.state()).toBeNull()
    })

    it('is nothing where a browser keeps nothing', async () => {
        const none = new LastRead(undefined)
        await none.keepState(stateOf(3))
        expect([await none.state(), await none.talk('x')]).toEqual([null, []])
    })
})
