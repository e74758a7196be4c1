// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { watchWaking } from './connection.svelte'
import { Presence } from './presence.svelte'
import { FakeServer, settled } from './testing'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
})

/** The page does not run for so long, then its clock ticks. */
function sleep(seconds: number) {
    vi.setSystemTime(Date.now() + seconds * 1000)
    vi.advanceTimersByTime(5000)
}

describe('waking', () => {
    it('is noticed by a clock that jumped, by a thaw, and by the network', () => {
        const woken: boolean[] = []
        const stop = watchWaking((isSure) => woken.push(isSure))
        sleep(10)
        expect(woken).toEqual([])
        sleep(30)
        document.dispatchEvent(new Event('resume'))
        dispatchEvent(new Event('online'))
        expect(woken).toEqual([true, true, true])
        stop()
        sleep(1000)
        expect(woken).toHaveLength(3)
    })

    it('is not what the clock of a hidden page does once a minute', () => {
        vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('hidden')
        const woken: boolean[] = []
        const stop = watchWaking((isSure) => woken.push(isSure))
        sleep(60)
        sleep(60)
        expect(woken).toEqual([])
        sleep(600)
        expect(woken).toEqual([true])
        stop()
    })
})

it('who is idle for minutes is told to be, and who comes back is so at once', async () => {
    const server = new FakeServer()
    server.auto = () => ({})
    const presence = new Presence(server.api)
    presence.start()
    vi.advanceTimersByTime(6 * 60_000)
    await settled()
    expect(server.all.at(-1)?.params['status']).toBe('idle')
    const before = server.all.length
    presence.active()
    presence.active()
    await settled()
    expect(server.all.slice(before).map((request) => request.params['status'])).toEqual(['active'])
    presence.stop()
})
