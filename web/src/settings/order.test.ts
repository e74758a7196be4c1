import { expect, test } from 'vitest'
import { moved } from './order'

test('one moves, the others keep their order', () => {
    expect(moved(['a', 'b', 'c'], 0, 1)).toEqual(['b', 'a', 'c'])
    expect(moved(['a', 'b', 'c'], 2, 0)).toEqual(['c', 'a', 'b'])
    expect(moved(['a', 'b'], 5, 0)).toEqual(['a', 'b'])
})
