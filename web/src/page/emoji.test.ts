import { expect, it } from 'vitest'
import { customEmoji, type Emoji, emojiText, findEmoji } from './emoji'

const make = (code: string, ...names: string[]): Emoji => ({
    name: names[0] ?? '',
    code,
    type: 'unicode_emoji',
    text: '',
    names,
})
const all = [
    make('1f984', 'unicorn'),
    make('1f44d', '+1', 'thumbs_up'),
    make('1f44e', '-1', 'thumbs_down'),
    make('1f389', 'tada'),
]

it('shows the usual ones first when nothing is asked for', () => {
    expect(findEmoji(all, '')[0]?.code).toBe('1f44d')
})

it('finds by any name, spaces too', () => {
    expect(findEmoji(all, 'thumbs d').map((each) => each.name)).toEqual(['-1'])
    expect(findEmoji(all, 'corn').map((each) => each.name)).toEqual(['unicorn'])
    expect(findEmoji(all, 'nothing')).toEqual([])
})

it('leaves out custom emoji that were taken away', () => {
    const emoji = { id: '1', name: 'party', source_url: '/x', still_url: null, deactivated: false, author_id: 1 }
    expect(customEmoji([emoji, { ...emoji, id: '2', deactivated: true }]).map((each) => each.code)).toEqual(['1'])
})

it('is named by the numbers of its characters', () => {
    expect(emojiText('1f937-200d-2640')).toBe('🤷‍♀')
    expect(emojiText('2764')).toBe('❤\ufe0f')
    expect(emojiText('zz')).toBe('')
})
