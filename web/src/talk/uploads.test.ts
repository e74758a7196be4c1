// @vitest-environment happy-dom
import { expect, it, vi } from 'vitest'
import type { SendPlace } from '../data/outbox.svelte'
import type { World } from '../data/world.svelte'
import { Uploads } from './uploads.svelte'

const topic = (name: string): SendPlace => ({ kind: 'topic', channelId: 1, topic: name })

it('takes the link of a file to where its text is by then', async () => {
    let answer: (value: unknown) => void = () => {}
    const world = {
        realm: { value: () => 25 },
        api: { upload: () => new Promise((resolve) => (answer = resolve)) },
    } as unknown as World
    const uploads = new Uploads(world)
    const insert = vi.fn()
    const done = uploads.add(new File(['x'], 'x.txt'), null, insert)
    expect([uploads.isBusy(null), uploads.isBusy(topic('a'))]).toEqual([true, false])
    uploads.follow(null, topic('a'))
    uploads.follow(topic('b'), null)
    expect([uploads.isBusy(null), uploads.isBusy(topic('a'))]).toEqual([false, true])
    answer({ ok: true, value: { url: '/user_uploads/x.txt', filename: 'x.txt' } })
    await done
    expect(insert).toHaveBeenCalledWith('[x.txt](/user_uploads/x.txt)', topic('a'))
    expect(uploads.all).toEqual([])
})

it('keeps a file that failed for another try, and one that can never arrive without', async () => {
    const answers = [
        { ok: false, error: { kind: 'offline', status: 0, code: '', msg: '', body: {} } },
        { ok: true, value: { url: '/user_uploads/voice.weba', filename: 'voice.weba' } },
        { ok: false, error: { kind: 'refused', status: 400, code: 'BAD_REQUEST', msg: 'No room.', body: {} } },
    ]
    const world = {
        realm: { value: () => 1 },
        api: { upload: async () => answers.shift() },
    } as unknown as World
    const uploads = new Uploads(world)
    const insert = vi.fn()
    await uploads.add(new File(['x'], 'voice.weba'), null, insert)
    const [failed] = uploads.all
    expect([failed?.isHopeless, failed?.error, uploads.isBusy(null)]).toEqual([false, expect.any(String), false])
    if (failed) await uploads.try(failed, insert)
    expect(insert).toHaveBeenCalledWith('![voice.weba](/user_uploads/voice.weba)', null)
    expect(uploads.all).toEqual([])

    await uploads.add(new File(['x'], 'x.txt'), null, insert)
    await uploads.add(new File([new Uint8Array(1024 * 1024 + 1)], 'large.bin'), null, insert)
    expect(uploads.all.map((each) => each.isHopeless)).toEqual([true, true])
})

it('forgets a file that is stopped on its way', async () => {
    let answer: (value: unknown) => void = () => {}
    const world = {
        realm: { value: () => 25 },
        api: { upload: () => new Promise((resolve) => (answer = resolve)) },
    } as unknown as World
    const uploads = new Uploads(world)
    const insert = vi.fn()
    const done = uploads.add(new File(['x'], 'x.txt'), null, insert)
    for (const each of uploads.all) uploads.dismiss(each)
    answer({ ok: true, value: { url: '/user_uploads/x.txt', filename: 'x.txt' } })
    await done
    expect([insert.mock.calls.length, uploads.all.length]).toEqual([0, 0])
})

it('keeps nothing of what fails when nobody looks any more', async () => {
    const error = { kind: 'offline', status: 0, code: '', msg: '', body: {} }
    const world = { realm: { value: () => 1 }, api: { upload: async () => ({ ok: false, error }) } } as unknown as World
    const uploads = new Uploads(world)
    await uploads.add(new File(['x'], 'early.txt'), null, vi.fn())
    expect(uploads.all).toHaveLength(1)
    uploads.leave()
    expect(uploads.all).toEqual([])
    await uploads.add(new File(['x'], 'late.txt'), null, vi.fn())
    expect(uploads.all).toEqual([])
})
