import { describe, expect, it } from 'vitest'
import { FOR_EVER, isShorter, keptTimes, onTheWire } from './kept'

describe('how long something is kept', () => {
    it('offers the time that counts now among the others, and for ever last', () => {
        expect(keptTimes(45).map((each) => each.value)).toEqual([30, 45, 90, 365, 730, 1825, FOR_EVER])
        expect(keptTimes(FOR_EVER).map((each) => each.value)).toEqual([30, 90, 365, 730, 1825, FOR_EVER])
    })

    it('is a number of days, or the word for no end', () => {
        expect([onTheWire(90), onTheWire(FOR_EVER)]).toEqual([90, 'unlimited'])
    })

    it('is shorter than before only if something is deleted sooner', () => {
        expect(isShorter(FOR_EVER, 1825)).toBe(true)
        expect(isShorter(365, 90)).toBe(true)
        expect(isShorter(90, 365)).toBe(false)
        expect(isShorter(90, FOR_EVER)).toBe(false)
        expect(isShorter(FOR_EVER, FOR_EVER)).toBe(false)
    })
})
