import { expect, test } from 'vitest'
import { respelled } from './options'

const before = [
    { value: '0', text: 'Tea' },
    { value: '1', text: 'Cofee' },
    { value: '2', text: 'Water' },
]
const spelled = (...texts: string[]) => respelled(before, texts).map((option) => option.text)

test('an option whose spelling is corrected is still the same', () => {
    expect(respelled(before, ['Tea', 'Coffee', 'Water'])).toEqual([
        { value: '0', text: 'Tea' },
        { value: '1', text: 'Coffee' },
        { value: '2', text: 'Water' },
    ])
})

test('options that move, come or go are not taken for others', () => {
    expect(spelled('Water', 'Tea', 'Coffee')).toEqual(['Tea', 'Cofee', 'Water'])
    expect(spelled('Tea', 'Juice', 'Coffee', 'Water')).toEqual(['Tea', 'Cofee', 'Water'])
    expect(spelled('Tea', 'Juice', 'Juice')).toEqual(['Tea', 'Cofee', 'Water'])
    expect(spelled('Tea', 'Water')).toEqual(['Tea', 'Cofee', 'Water'])
})
