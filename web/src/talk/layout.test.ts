import { describe, expect, it } from 'vitest'
import { layOut, type LayoutOptions, type Row } from './layout'

const row = (id: number, changes: Partial<Row> = {}): Row => ({
    id,
    senderId: 1,
    timestamp: id * 60,
    conversation: 'a',
    day: 1,
    isMe: false,
    ...changes,
})
/** Nothing comes before the first row, unless it is said. */
const kinds = (rows: Row[], options: Partial<LayoutOptions> = {}) =>
    layOut(rows, { bars: false, unreadFrom: null, beginning: true, ...options })
        .map((item) => (item.kind === 'message' ? (item.head ? 'head' : 'more') : item.kind))
        .filter((kind) => kind !== 'beginning')

describe('the list of messages', () => {
    it('begins a run with its first message only', () => {
        expect(kinds([row(1), row(2), row(3, { senderId: 2 })])).toEqual(['day', 'head', 'more', 'head'])
    })

    it('ends a run after ten minutes', () => {
        expect(kinds([row(1), row(2, { timestamp: 60 + 599 }), row(3, { timestamp: 60 + 599 + 600 })])).toEqual([
            'day',
            'head',
            'more',
            'head',
        ])
    })

    it('shows each conversation and day', () => {
        const rows = [row(1), row(2, { conversation: 'b' }), row(3, { conversation: 'b', day: 2 })]
        expect(kinds(rows, { bars: true, unreadFrom: null })).toEqual([
            'day',
            'bar',
            'head',
            'bar',
            'head',
            'day',
            'bar',
            'head',
        ])
    })

    it('says neither day nor conversation before what follows something that is not loaded', () => {
        const rows = [row(1), row(2, { day: 2, conversation: 'b' })]
        expect(kinds(rows, { bars: true, beginning: false })).toEqual(['head', 'day', 'bar', 'head'])
    })

    it('draws the unread line once, before the first unread message, though it is not loaded itself', () => {
        expect(kinds([row(1), row(5), row(6)], { bars: false, unreadFrom: 3 })).toEqual([
            'day',
            'head',
            'unread',
            'head',
            'more',
        ])
    })

    it('draws no unread line where the unread begin above what is loaded', () => {
        const part = { unreadFrom: 3, beginning: false }
        expect(kinds([row(5), row(6)], part)).toEqual(['head', 'more'])
        expect(kinds([row(3), row(6)], part)).toEqual(['unread', 'head', 'more'])
        const whole = layOut([row(5)], { bars: false, unreadFrom: 3, beginning: true })
        expect(whole.map((item) => item.kind)).toEqual(['beginning', 'day', 'unread', 'message'])
    })

    it('keeps the keys of messages when older ones arrive', () => {
        const before = layOut([row(5), row(6)], { bars: false, unreadFrom: null })
        const after = layOut([row(1), row(5), row(6)], { bars: false, unreadFrom: null })
        const keys = new Set(after.map((item) => item.key))
        expect(before.filter((item) => item.kind === 'message').every((item) => keys.has(item.key))).toBe(true)
    })
})
