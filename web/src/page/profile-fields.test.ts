import { expect, test } from 'vitest'
import type { ApiProfileField } from '../data/api-types'
import { addressOf, choicesFrom, dateText, optionsOf, peopleOf, TYPE } from './profile-fields'

const field = (type: number, data: object = {}) =>
    ({ id: 1, type, field_data: JSON.stringify(data) }) as unknown as ApiProfileField
const accounts = { github: { name: '', text: '', hint: '', url_pattern: 'https://github.com/%(username)s' } }

test('options come in their order', () => {
    const list = field(TYPE.list, { b: { text: 'Second', order: '2' }, a: { text: 'First', order: '1' } })
    expect(optionsOf(list).map((option) => option.text)).toEqual(['First', 'Second'])
    expect(optionsOf({ ...list, field_data: 'broken' })).toEqual([])
})

test('an option that stays keeps its key, a new one gets one that was never used', () => {
    const before = [
        { value: '0', text: 'Tea' },
        { value: '3', text: 'Coffee' },
    ]
    expect(choicesFrom(['Coffee', 'Water', 'Tea'], before)).toEqual({
        3: { text: 'Coffee', order: '1' },
        4: { text: 'Water', order: '2' },
        0: { text: 'Tea', order: '3' },
    })
    expect(choicesFrom(['Tea'], [])).toEqual({ 0: { text: 'Tea', order: '1' } })
})

test('accounts and links lead somewhere, unless it is harmful', () => {
    expect(addressOf(field(TYPE.account, { subtype: 'github' }), 'ada l', accounts)).toBe('https://github.com/ada%20l')
    const own = { subtype: 'custom', url_pattern: 'https://example.com/%(username)s' }
    expect(addressOf(field(TYPE.account, own), 'ada', accounts)).toBe('https://example.com/ada')
    expect(addressOf(field(TYPE.account, { subtype: 'unknown' }), 'ada', accounts)).toBe('')
    expect(addressOf(field(TYPE.link), 'javascript:alert(1)', accounts)).toBe('')
})

test('people and dates are read, whatever is there', () => {
    expect(peopleOf('[3,4]')).toEqual([3, 4])
    expect(peopleOf('nonsense')).toEqual([])
    expect(dateText('1912-06-23', 'en')).toBe('June 23, 1912')
    expect(dateText('long ago', 'en')).toBe('long ago')
})
