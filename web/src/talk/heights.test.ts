import { describe, expect, it } from 'vitest'
import { Heights } from './heights'

const make = (keys: string[], estimate = 10) => {
    const heights = new Heights()
    heights.setRows(keys, () => estimate)
    return heights
}

describe('heights', () => {
    it('are estimated until they are measured', () => {
        const heights = make(['a', 'b', 'c'])
        expect(heights.total).toBe(30)
        expect(heights.measure('b', 25)).toBe(true)
        expect([heights.offsetOf(1), heights.offsetOf(2), heights.total]).toEqual([10, 35, 45])
    })

    it('survive rows that come before them', () => {
        const heights = make(['b', 'c'])
        heights.measure('b', 25)
        heights.setRows(['a', 'b', 'c'], () => 10)
        expect([heights.offsetOf(1), heights.offsetOf(2), heights.total]).toEqual([10, 35, 45])
    })

    it('of rows that went long ago are forgotten', () => {
        const heights = make(['a'])
        for (let row = 0; row < 2000; row++) heights.measure(`gone-${row}`, 20)
        heights.measure('a', 25)
        heights.setRows(['a', 'gone-7'], () => 10)
        expect([heights.total, heights.isMeasured('gone-7'), heights.isMeasured('gone-8')]).toEqual([45, true, false])
        heights.setRows(['a', 'gone-8'], () => 10)
        expect(heights.total).toBe(35)
    })

    it('find the row at a height', () => {
        const heights = make(['a', 'b', 'c'])
        expect([0, 9, 10, 29, 500].map((at) => heights.indexAt(at))).toEqual([0, 0, 1, 2, 2])
    })

    it('agree with plain sums for any changes', () => {
        const heights = new Heights()
        const truth = new Map<string, number>()
        let keys: string[] = []
        let seed = 7
        const random = (n: number) => (seed = (seed * 48271) % 2147483647) % n
        for (let step = 0; step < 400; step++) {
            const action = random(4)
            if (action === 0) keys = [`k${step}`, ...keys]
            else if (action === 1) keys = [...keys, `k${step}`]
            else if (action === 2 && keys.length) keys = keys.filter((_, index) => index !== random(keys.length))
            heights.setRows(keys, () => 12)
            const key = keys[random(Math.max(1, keys.length))]
            if (key) {
                truth.set(key, 5 + random(90))
                heights.measure(key, truth.get(key) as number)
            }
            const sum = keys.reduce((total, each) => total + (truth.get(each) ?? 12), 0)
            expect(Math.abs(heights.total - sum)).toBeLessThan(keys.length * 0.5 + 1e-6)
        }
    })

    it('answer for 100,000 rows in no time', () => {
        const keys = Array.from({ length: 100_000 }, (_, index) => `m-${index}`)
        const heights = make(keys, 40)
        const began = performance.now()
        for (let step = 0; step < 50; step++) {
            heights.measure(`m-${step * 1999}`, 80 + step)
            heights.indexAt(heights.total / 2)
        }
        // About 5 ms on an idle machine; a step that looks at every message takes seconds.
        expect((performance.now() - began) / 50).toBeLessThan(150)
    })
})
