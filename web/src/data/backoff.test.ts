import { afterEach, describe, expect, it, vi } from 'vitest'
import { waitBefore } from './backoff'

afterEach(() => void vi.restoreAllMocks())

function waits(random: number, ...given: Parameters<typeof waitBefore>): number {
    vi.spyOn(Math, 'random').mockReturnValue(random)
    return waitBefore(...given)
}

describe('the wait before another try', () => {
    it('is random from the first time on, and longer each time up to ten seconds', () => {
        expect(waits(0, 1)).toBe(0)
        expect(waits(0.5, 1)).toBe(500)
        expect(waits(0.5, 3)).toBe(2000)
        expect(waits(1, 50)).toBe(10_000)
    })

    it('is never shorter than what the server asks for, and not the same for everybody', () => {
        expect(waits(0, 1, 8)).toBe(8000)
        expect(waits(1, 9, 8)).toBe(10_000)
    })
})
