import { expect, test } from 'vitest'
import { changesTo, levelOf } from './levels'

const own = { desktop_notifications: null, push_notifications: null, is_muted: false }

test('a channel without properties of its own follows the settings', () => {
    expect(levelOf(own)).toBe('settings')
    expect(levelOf({ ...own, is_muted: true })).toBe('muted')
    expect(levelOf({ ...own, push_notifications: true }), 'something between').toBe(null)
})

test('a level changes only what is another, and is the level then', () => {
    expect(changesTo(own, 'settings')).toEqual([])
    expect(changesTo(own, 'muted')).toEqual([['is_muted', true]])
    for (const level of ['all', 'mentions'] as const) {
        const after = { ...own, is_muted: true, ...Object.fromEntries(changesTo({ ...own, is_muted: true }, level)) }
        expect(levelOf(after)).toBe(level)
    }
})
