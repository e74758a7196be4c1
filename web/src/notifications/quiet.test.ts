import { describe, expect, it } from 'vitest'
import { isQuiet } from './quiet'

const none = {
    notifications_paused_until: 0,
    quiet_hours_days: 127,
    quiet_hours_enabled: false,
    quiet_hours_end: 420,
    quiet_hours_start: 1320,
    timezone: '',
}
const hours = { ...none, quiet_hours_enabled: true }
const at = (text: string) => Date.parse(text) / 1000
const saturday = at('2026-03-28T23:30:00Z')

describe('quiet', () => {
    it('lasts as long as a pause', () => {
        expect(isQuiet(none, saturday)).toBe(false)
        expect(isQuiet({ ...none, notifications_paused_until: saturday + 1 }, saturday)).toBe(true)
        expect(isQuiet({ ...none, notifications_paused_until: saturday }, saturday)).toBe(false)
    })

    it('goes over midnight, by the clock where somebody lives', () => {
        expect(isQuiet(hours, at('2026-03-28T21:59:00Z'))).toBe(false)
        expect(isQuiet(hours, at('2026-03-28T22:00:00Z'))).toBe(true)
        expect(isQuiet(hours, at('2026-03-29T06:59:00Z'))).toBe(true)
        expect(isQuiet(hours, at('2026-03-29T07:00:00Z'))).toBe(false)
        expect(isQuiet({ ...hours, timezone: 'America/Bogota' }, saturday)).toBe(false)
        expect(isQuiet({ ...hours, timezone: 'Europe/Madrid' }, at('2026-03-29T04:59:00Z'))).toBe(true)
        expect(isQuiet({ ...hours, timezone: 'Europe/Madrid' }, at('2026-03-29T05:00:00Z'))).toBe(false)
    })

    it('has the days on which its hours begin', () => {
        const madrid = { ...hours, timezone: 'Europe/Madrid' }
        expect(isQuiet({ ...madrid, quiet_hours_days: 32 }, saturday)).toBe(true)
        expect(isQuiet({ ...madrid, quiet_hours_days: 64 }, saturday)).toBe(false)
    })
})
