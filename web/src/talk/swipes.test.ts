import { expect, it } from 'vitest'
import { wayOf } from './swipes'

it('what goes up or down is scrolling, from the first pixels on', () => {
    expect(wayOf(3, 4)).toBe('undecided')
    expect(wayOf(2, 12)).toBe('along')
    expect(wayOf(-30, 4)).toBe('sideways')
})

it('what goes aslant is scrolling too', () => {
    expect(wayOf(20, 20)).toBe('along')
    expect(wayOf(20, -11)).toBe('along')
    expect(wayOf(20, 9)).toBe('sideways')
})
