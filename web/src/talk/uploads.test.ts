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
