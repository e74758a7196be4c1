import { expect, test } from 'vitest'
import { dayStart, dayText } from './jump'

test('a day begins at midnight where the reader is', () => {
    expect(dayStart('2026-03-09')).toEqual(new Date(2026, 2, 9))
})

test('days ago are counted by the calendar, over months and years', () => {
    const now = new Date(2026, 0, 2, 23, 30)
    expect([dayText(now), dayText(now, 1), dayText(now, 7)]).toEqual(['2026-01-02', '2026-01-01', '2025-12-26'])
})
