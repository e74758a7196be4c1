// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { mayAnnounce } from './claims'

const taken = new Set<string>()
let hasFocus = false

beforeEach(() => {
    vi.useFakeTimers()
    taken.clear()
    vi.spyOn(document, 'hasFocus').mockImplementation(() => hasFocus)
    vi.stubGlobal('navigator', {
        locks: {
            request: async (name: string, _: object, work: (lock: object | null) => Promise<void>) => {
                if (taken.has(name)) return work(null)
                taken.add(name)
                await work({})
                taken.delete(name)
            },
        },
    })
})
afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
})

/** What a tab decides: whether it has the focus is asked at once. */
function tab(id: number, has: boolean, isLookedAt = false): Promise<boolean> {
    hasFocus = has
    return mayAnnounce(id, isLookedAt)
}

it('one tab announces a message: the one with the focus, if there is one', async () => {
    const tabs = [tab(1, false), tab(1, true), tab(1, false)]
    await vi.advanceTimersByTimeAsync(300)
    expect(await Promise.all(tabs)).toEqual([false, true, false])
    const others = [tab(2, false), tab(2, false)]
    await vi.advanceTimersByTimeAsync(300)
    expect(await Promise.all(others)).toEqual([true, false])
})

it('no tab announces what somebody looks at in one of them', async () => {
    const tabs = [tab(1, false), tab(1, true, true)]
    await vi.advanceTimersByTimeAsync(300)
    expect(await Promise.all(tabs)).toEqual([false, false])
})
