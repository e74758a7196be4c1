import { expect, it } from 'vitest'
import { hueOf, initials } from './names'

it.each([
    ['Ada Byron', 'AB'],
    ['ada', 'A'],
    ['Juan Carlos de la Vega', 'JV'],
    ['  ', '?'],
    ['ليلى حداد', 'لح'],
    ['王小明', '王'],
    ['👩‍👩‍👧 Family', '👩‍👩‍👧F'],
])('the initials of %j are %j', (name, expected) => {
    expect(initials(name)).toBe(expected)
})

it('two people next to each other have different hues', () => {
    expect(Math.abs(hueOf(8) - hueOf(9))).toBeGreaterThan(60)
})
