import { expect, test } from 'vitest'
import { queryOf, termsOf, type Names } from './query'

const channels = new Map([
    [1, 'design'],
    [2, 'new hires'],
])
const people = new Map([
    [7, 'Ada Lovelace'],
    [8, 'Bo'],
])
const names: Names = {
    channelId: (name) => [...channels].find(([, each]) => each === name)?.[0],
    channelName: (id) => channels.get(id),
    userId: (name) => [...people].find(([, each]) => each === name)?.[0],
    userName: (id) => people.get(id) ?? '',
}

test('words alone are one term', () => {
    expect(termsOf('  green   tea ', names)).toEqual([{ operator: 'search', operand: 'green tea' }])
    expect(termsOf('', names)).toEqual([])
})

test('operators name channels, topics and people, with quotes around spaces', () => {
    expect(termsOf('channel:"new hires" topic:"first day" sender:"Ada Lovelace" -has:images coffee', names)).toEqual([
        { operator: 'channel', operand: 2 },
        { operator: 'topic', operand: 'first day' },
        { operator: 'sender', operand: 7 },
        { operator: 'has', operand: 'image', negated: true },
        { operator: 'search', operand: 'coffee' },
    ])
})

test('older names of operators are understood', () => {
    expect(termsOf('stream:design from:Bo dm:Bo', names)).toEqual([
        { operator: 'channel', operand: 1 },
        { operator: 'sender', operand: 8 },
        { operator: 'dm', operand: [8] },
    ])
})

test('what only looks like an operator is looked for as it is', () => {
    expect(termsOf('is:blue https://example.com 12:30', names)).toEqual([
        { operator: 'search', operand: 'is:blue https://example.com 12:30' },
    ])
    expect(termsOf('"green tea"', names)).toEqual([{ operator: 'search', operand: '"green tea"' }])
    expect(termsOf('constructor:x', names)).toEqual([{ operator: 'search', operand: 'constructor:x' }])
})

test.each([
    'channel:"new hires" is:starred words here',
    '-sender:Bo topic:x',
    '"exact words" more',
    'dm:Bo',
    'mentions:"Ada Lovelace" channels:public tea',
])('what was typed can be shown again: %s', (text) => {
    expect(termsOf(queryOf(termsOf(text, names), names), names)).toEqual(termsOf(text, names))
})
