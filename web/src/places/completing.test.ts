import { expect, test } from 'vitest'
import { completions } from './completing'

const known = { channels: ['design', 'new deals'], people: ['Léa Fournier', 'Leo'] }
const of = (typed: string) => completions(typed, known)

test('two letters of an operator are enough', () => {
    expect(of('ch')).toEqual(['channel:'])
    expect(of('boats se')).toEqual(['boats sender:'])
    expect(of('boats -ha')).toEqual(['boats -has:'])
    expect(of('s')).toEqual([])
    expect(of('boats')).toEqual([])
})

test('after the colon its values are offered, as they are given, in quotes where they have spaces', () => {
    expect(of('channel:')).toEqual(['channel:design ', 'channel:"new deals" '])
    expect(of('boats sender:lea')).toEqual(['boats sender:"Léa Fournier" '])
    expect(of('-sender:le')).toEqual(['-sender:"Léa Fournier" ', '-sender:Leo '])
    expect(of('boats is:st')).toEqual(['boats is:starred '])
    expect(of('topic:x')).toEqual([])
    expect(of('unknown:x')).toEqual([])
})

test('a name that two people have is offered once', () => {
    expect(completions('sender:le', { channels: [], people: ['Leo', 'Lea', 'Leo'] })).toEqual([
        'sender:Leo ',
        'sender:Lea ',
    ])
})

test('several words of a name are one value inside quotes', () => {
    expect(of('sender:"léa fo')).toEqual(['sender:"Léa Fournier" '])
})
