import { expect, it } from 'vitest'
import { tellHours } from './clock.svelte'
import { clockTime, dayNumber, saidDay, saidTime } from './times'

const at = (text: string) => new Date(text).getTime() / 1000
const now = at('2026-03-10T12:00:00')

it.each([
    ['2026-03-10T11:59:50', 'now'],
    ['2026-03-10T11:50:00', '10 min. ago'],
    ['2026-03-10T09:00:00', '3 hr. ago'],
    ['2026-03-08T09:00:00', 'Sunday'],
    ['2026-02-03T09:00:00', 'Feb 3'],
    ['2024-02-03T09:00:00', 'Feb 3, 2024'],
])('%s is said as %s', (text, said) => {
    expect(saidTime(at(text), now, 'en')).toBe(said)
})

it('says the time of day shortly', () => {
    tellHours(true)
    expect(clockTime(at('2026-03-10T14:05:00'), 'en')).toBe('14:05')
    expect(clockTime(at('2026-03-10T00:05:00'), 'en')).toBe('00:05')
    tellHours(false)
    expect(clockTime(at('2026-03-10T14:05:00'), 'en')).toBe('2:05')
})

it('names days', () => {
    expect(saidDay(at('2026-03-10T00:05:00'), now, 'en')).toBe('Today')
    expect(saidDay(at('2026-03-09T23:55:00'), now, 'es')).toBe('Ayer')
    expect(saidDay(at('2026-03-03T10:00:00'), now, 'en')).toBe('Tuesday, March 3')
})

it('counts calendar days across midnight', () => {
    expect(dayNumber(at('2026-03-10T00:01:00')) - dayNumber(at('2026-03-09T23:59:00'))).toBe(1)
})
