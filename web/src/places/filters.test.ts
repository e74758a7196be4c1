import { describe, expect, it } from 'vitest'
import { filterText, isOn, toggled, withFilter, withoutFilter } from './filters'
import { queryOf, termsOf, type Names } from './query'

const names: Names = {
    channelId: (name) => (name === 'design' ? 1 : undefined),
    channelName: (id) => (id === 1 ? 'design' : undefined),
    userId: (name) => (name === 'Bo' ? 8 : undefined),
    userName: (id) => (id === 8 ? 'Bo' : ''),
}
const read = (text: string) => termsOf(text, names)
const write = (terms: ReturnType<typeof read>) => queryOf(terms, names)

describe('a filter', () => {
    it('is written into what is typed, before the words', () => {
        expect(write(withFilter(read('green tea'), { operator: 'sender', operand: 8 }))).toBe('sender:Bo green tea')
        expect(write(toggled(read('is:starred tea'), { operator: 'has', operand: 'link' }))).toBe(
            'is:starred has:link tea',
        )
    })

    it('is read from what is typed, and taken out again', () => {
        const terms = read('has:link is:unread tea')
        const link = { operator: 'has', operand: 'link' }
        expect(isOn(terms, link)).toBe(true)
        expect(write(toggled(terms, link))).toBe('is:unread tea')
        expect(isOn(read('-has:link'), link), 'its opposite is another').toBe(false)
        expect(write(toggled(read('-has:link'), link))).toBe('has:link')
    })

    it('for a place takes the place of another, and a topic goes with its channel', () => {
        const terms = read('channel:design topic:logo tea')
        expect(write(withFilter(terms, { operator: 'dm', operand: [8] }))).toBe('dm:Bo tea')
        expect(write(withFilter(terms, { operator: 'topic', operand: 'x' }))).toBe('channel:design topic:x tea')
        expect(write(withoutFilter(terms, { operator: 'channel', operand: 1 }))).toBe('tea')
    })

    it('is said in words', () => {
        const said = read('-sender:Bo channel:design topic:logo has:link is:unread channels:public').map((term) =>
            filterText(term, names),
        )
        expect(said).toEqual([
            'Not: From Bo',
            'In #design',
            'Topic “logo”',
            'Has a link',
            'Unread',
            'In all public channels',
        ])
        expect(filterText({ operator: 'id', operand: 7 }, names)).toBe('id:7')
    })
})
