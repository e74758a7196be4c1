import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Drafts } from './drafts.svelte'
import { memoryKeep, type Keep } from './keep'
import type { SendPlace } from './outbox.svelte'
import { FakeServer, settled } from './testing'

const LUNCH: SendPlace = { kind: 'topic', channelId: 1, topic: 'lunch' }
const SAVED = { id: 5, type: 'stream' as const, to: [1], topic: 'lunch', content: 'Hel', timestamp: 1 }

function stage(keep: Keep = memoryKeep(), saved = [] as (typeof SAVED)[]) {
    const server = new FakeServer()
    const drafts = new Drafts(server.api, keep)
    drafts.load(2, saved)
    return { server, drafts, keep }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

describe('a draft', () => {
    it('is saved once writing pauses, and changed from then on', async () => {
        const { server, drafts } = stage()
        drafts.write(LUNCH, 'H')
        drafts.write(LUNCH, 'He')
        vi.advanceTimersByTime(3000)
        const request = await server.next('drafts')
        expect(request.params['drafts']).toMatchObject([{ type: 'stream', to: [1], topic: 'lunch', content: 'He' }])
        drafts.write(LUNCH, 'Hel')
        request.answer({ ids: [5] })
        await settled()
        vi.advanceTimersByTime(3000)
        const change = await server.next('drafts/5')
        expect([change.method, change.params['draft']]).toMatchObject(['PATCH', { content: 'Hel' }])
    })

    it('that the server never got is there after a reload', () => {
        const { drafts, keep } = stage()
        drafts.write(LUNCH, 'Half a sentence')
        expect(stage(keep).drafts.textOf(LUNCH)).toBe('Half a sentence')
    })

    it('being written is not overwritten by what another device saved', () => {
        const { drafts } = stage(memoryKeep(), [SAVED])
        expect(drafts.textOf(LUNCH)).toBe('Hel')
        drafts.write(LUNCH, 'Hello')
        drafts.apply({ id: 1, type: 'drafts', op: 'update', draft: { ...SAVED, content: 'Other' } })
        expect(drafts.textOf(LUNCH)).toBe('Hello')
    })

    it('that was sent is deleted, also when it was just being saved', async () => {
        const known = stage(memoryKeep(), [SAVED])
        known.drafts.clear(LUNCH)
        expect((await known.server.next('drafts/5')).method).toBe('DELETE')
        const { server, drafts, keep } = stage()
        drafts.write(LUNCH, 'Quick')
        vi.advanceTimersByTime(3000)
        const saving = await server.next('drafts')
        drafts.clear(LUNCH)
        expect(drafts.all).toEqual([])
        saving.answer({ ids: [6] })
        await settled()
        vi.advanceTimersByTime(3000)
        expect((await server.next('drafts/6')).method).toBe('DELETE')
        expect(stage(keep).drafts.textOf(LUNCH)).toBe('')
    })

    it('that was sent while nobody answered is deleted later, also after a reload', async () => {
        const { server, drafts, keep } = stage(memoryKeep(), [SAVED])
        drafts.clear(LUNCH)
        ;(await server.next('drafts/5')).fail()
        await settled()
        expect(drafts.all).toEqual([])
        void drafts.flush()
        ;(await server.next('drafts/5')).fail()
        await settled()
        const later = stage(keep, [SAVED])
        expect(later.drafts.all).toEqual([])
        vi.advanceTimersByTime(5000)
        const deleting = await later.server.next('drafts/5')
        expect(deleting.method).toBe('DELETE')
        deleting.answer({})
        await settled()
        expect(keep.names('tertulia:draft:')).toEqual([])
    })

    it('begun elsewhere after ours was sent stays', async () => {
        const { server, drafts, keep } = stage(memoryKeep(), [SAVED])
        drafts.clear(LUNCH)
        ;(await server.next('drafts/5')).fail()
        const later = stage(keep, [{ ...SAVED, id: 6, content: 'Another' }])
        vi.advanceTimersByTime(5000)
        await settled()
        expect([later.drafts.textOf(LUNCH), later.server.all]).toEqual(['Another', []])
    })

    it('is not set back by the echo of what it was before', async () => {
        const { server, drafts } = stage(memoryKeep(), [SAVED])
        for (const content of ['Hello', 'Hello you']) {
            drafts.write(LUNCH, content)
            vi.advanceTimersByTime(3000)
            // oxlint-disable-next-line no-await-in-loop -- one after the other
            ;(await server.next('drafts/5')).answer({})
            // oxlint-disable-next-line no-await-in-loop
            await settled()
        }
        const update = (content: string) =>
            drafts.apply({ id: 1, type: 'drafts', op: 'update', draft: { ...SAVED, content } })
        update('Hello')
        expect(drafts.textOf(LUNCH)).toBe('Hello you')
        update('Hello you')
        update('Hello')
        expect(drafts.textOf(LUNCH)).toBe('Hello')
    })

    it('that another tab is writing is left to it, and saved when nobody does', async () => {
        const { drafts, keep } = stage()
        drafts.write(LUNCH, 'By the first')
        const second = stage(keep)
        vi.advanceTimersByTime(1000)
        drafts.write(LUNCH, 'By the first tab')
        drafts.stop()
        vi.advanceTimersByTime(3500)
        expect([second.server.all, second.drafts.textOf(LUNCH)]).toEqual([[], 'By the first tab'])
        vi.advanceTimersByTime(5000)
        expect((await second.server.next('drafts')).params['drafts']).toMatchObject([{ content: 'By the first tab' }])
        const third = stage(keep)
        keep.delete(keep.names('tertulia:draft:')[0]!)
        vi.advanceTimersByTime(5000)
        expect([third.server.all, third.drafts.all]).toEqual([[], []])
    })

    it('is saved once when the server is back, by the tab in which it was written', async () => {
        const { server, drafts, keep } = stage()
        drafts.write(LUNCH, 'By the first')
        const second = stage(keep)
        for (const each of [drafts, second.drafts]) {
            each.load(2, [])
            each.flush()
        }
        expect((await server.next('drafts')).params['drafts']).toMatchObject([{ content: 'By the first' }])
        expect([second.server.all, second.drafts.textOf(LUNCH)]).toEqual([[], 'By the first'])
    })

    it('that several tabs find is saved by one of them', async () => {
        const { drafts, keep } = stage()
        drafts.write(LUNCH, 'Before the crash')
        drafts.stop()
        let queue = Promise.resolve()
        const tabs = [stage(keep), stage(keep)] as const
        for (const tab of tabs) tab.drafts.inTurn = (_, work) => (queue = queue.then(work))
        vi.advanceTimersByTime(5000)
        ;(await tabs[0].server.next('drafts')).answer({ ids: [5] })
        await queue
        void tabs[1].drafts.flush()
        expect(tabs[1].server.all).toEqual([])
        tabs[1].drafts.apply({ id: 1, type: 'drafts', op: 'add', drafts: [{ ...SAVED, content: 'Before the crash' }] })
        expect(tabs.map((tab) => tab.drafts.textOf(LUNCH))).toEqual(['Before the crash', 'Before the crash'])
    })

    it('that another tab wrote on and saved is here as it saved it', async () => {
        const { drafts, keep } = stage(memoryKeep(), [SAVED])
        drafts.write(LUNCH, 'Hell')
        const second = stage(keep, [SAVED])
        expect(second.drafts.textOf(LUNCH)).toBe('Hell')
        second.drafts.apply({ id: 1, type: 'drafts', op: 'update', draft: { ...SAVED, content: 'Hello' } })
        keep.delete(keep.names('tertulia:draft:')[0]!)
        vi.advanceTimersByTime(5000)
        await settled()
        expect([second.drafts.textOf(LUNCH), second.server.all]).toEqual(['Hello', []])
    })

    it('deleted elsewhere is gone, unless it is being written', () => {
        const { drafts } = stage(memoryKeep(), [SAVED])
        drafts.apply({ id: 1, type: 'drafts', op: 'remove', draft_id: 5 })
        expect(drafts.all).toEqual([])
    })

    it('goes along when its topic is moved, behind what is written there already', () => {
        const { drafts } = stage(memoryKeep(), [SAVED])
        const TEA: SendPlace = { kind: 'topic', channelId: 1, topic: 'tea' }
        drafts.move(LUNCH, TEA)
        expect([drafts.textOf(LUNCH), drafts.textOf(TEA)]).toEqual(['', 'Hel'])
        drafts.write(LUNCH, 'more')
        drafts.move(LUNCH, TEA)
        expect([drafts.textOf(LUNCH), drafts.textOf(TEA)]).toEqual(['', 'Hel\n\nmore'])
        drafts.move(TEA, { ...TEA, topic: 'Tea' })
        expect(drafts.textOf(TEA)).toBe('Hel\n\nmore')
    })

    it('to nobody yet is kept in this browser only, for one person', () => {
        const { drafts, keep, server } = stage()
        drafts.loose = 'to whom'
        vi.advanceTimersByTime(60_000)
        expect(server.all).toEqual([])
        const later = stage(keep).drafts
        expect([later.loose, later.all]).toEqual(['to whom', []])
        later.load(3, [])
        expect(later.loose).toBe('')
        later.load(2, [])
        later.loose = ''
        expect(keep.names('tertulia:')).toEqual([])
    })
})
