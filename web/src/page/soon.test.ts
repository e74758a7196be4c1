import { expect, it } from 'vitest'
import { soonTimes } from './soon'

it('offers the afternoon in the morning, and Monday unless that is tomorrow', () => {
    const words = (text: string) => soonTimes(new Date(text)).map((each) => each.word)
    expect(words('2026-03-11T09:00:00')).toEqual([
        'schedule.hour',
        'schedule.afternoon',
        'schedule.tomorrow',
        'schedule.monday',
    ])
    expect(words('2026-03-15T20:00:00')).toEqual(['schedule.hour', 'schedule.tomorrow'])
})

it('offers only what is to come', () => {
    const now = new Date('2026-03-13T14:59:00')
    expect(soonTimes(now).every((each) => each.at > now)).toBe(true)
})
