import { expect, it } from 'vitest'
import { sizeText } from './sizes'

it('says a size in the unit that gives a short number', () => {
    const sizes = [0, 999, 2_400, 999_999, 2_460_000, 34_600_000, 7_200_000_000]
    expect(sizes.map((size) => sizeText(size, 'en'))).toEqual([
        '0 byte',
        '999 byte',
        '2 kB',
        '1,000 kB',
        '2.5 MB',
        '35 MB',
        '7.2 GB',
    ])
})
