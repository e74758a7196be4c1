import { expect, test } from 'vitest'
import { memoryKeep } from './keep'
import { Searches } from './searches.svelte'

const tea = [{ operator: 'search', operand: 'tea' }]
const starred = [{ operator: 'is', operand: 'starred' }]

test('searches are kept for each person, the last saved first', () => {
    const keep = memoryKeep()
    const mine = new Searches(keep)
    mine.load(2)
    mine.save('Tea', tea)
    mine.save('Mine', starred)
    const again = new Searches(keep)
    again.load(2)
    expect(again.all.map((each) => each.name)).toEqual(['Mine', 'Tea'])
    expect(again.find(tea)?.name).toBe('Tea')
    again.load(3)
    expect(again.all).toEqual([])
})

test('a name and a search are there once', () => {
    const searches = new Searches(memoryKeep())
    searches.load(2)
    searches.save('Tea', tea)
    searches.save('Green tea', tea)
    searches.save('Green tea', starred)
    expect(searches.all).toEqual([{ name: 'Green tea', terms: starred }])
    const before = searches.all
    searches.remove('Green tea')
    expect(searches.all).toEqual([])
    searches.restore(before)
    expect(searches.all).toHaveLength(1)
})
