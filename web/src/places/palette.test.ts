import { expect, test } from 'vitest'
import { offersFor, type Offer } from './palette'

const offer = (group: Offer['group'], text: string, more: Partial<Offer> = {}): Offer => ({
    key: text,
    group,
    text,
    run: () => {},
    ...more,
})
const all = [
    offer('actions', 'Dark theme'),
    offer('people', 'Dana', { hint: 'dana@example.com' }),
    offer('people', 'Bo', { also: 'daring' }),
    offer('places', 'design', { weight: 1 }),
    offer('places', 'data', { weight: 2 }),
    offer('places', 'news'),
    offer('search', 'Search for it'),
]
const texts = (typed: string) => offersFor(typed, all).map((each) => each.text)

test('places come before people, people before things to do, and searching is always last', () => {
    expect(texts('da')).toEqual(['data', 'Dana', 'Bo', 'Dark theme', 'Search for it'])
})

test('a sign asks for one kind only', () => {
    expect(texts('@da')).toEqual(['Dana', 'Bo'])
    expect(texts('#da')).toEqual(['data'])
    expect(texts('>da')).toEqual(['Dark theme'])
})

test('with nothing typed the likeliest are offered, and nothing to search for', () => {
    expect(texts('')).toEqual(['news', 'design', 'data', 'Bo', 'Dana', 'Dark theme'])
})

test('nothing is offered twice', () => {
    const twice = offer('people', 'Dara', { also: 'dara' })
    expect(offersFor('dara', [twice])).toEqual([twice])
})

test('a topic is found by words of it and of its channel, and what is visited most comes first', () => {
    const places = [
        offer('places', 'launch date', { within: 'website' }),
        offer('places', 'launch', { within: 'kitchen', visits: 1 }),
        offer('places', 'launch party', { within: 'kitchen', visits: 3 }),
    ]
    expect(offersFor('web date', places).map((each) => each.text)).toEqual(['launch date'])
    expect(offersFor('kitch lau', places).map((each) => each.text)).toEqual(['launch party', 'launch'])
    expect(offersFor('', places)[0]?.text).toBe('launch party')
    expect(offersFor('lnchdt', places).map((each) => each.text)).toEqual(['launch date'])
})
