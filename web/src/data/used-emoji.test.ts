import { expect, it } from 'vitest'
import type { EventOf } from './api-types'
import { memoryKeep } from './keep'
import { UsedEmoji } from './used-emoji.svelte'

const reaction = (name: string, more: Partial<EventOf<'reaction'>> = {}): EventOf<'reaction'> => ({
    id: 1,
    type: 'reaction',
    op: 'add',
    user_id: 2,
    message_id: 9,
    emoji_name: name,
    emoji_code: `code of ${name}`,
    reaction_type: 'unicode_emoji',
    ...more,
})
const names = (used: UsedEmoji) => used.most.map((each) => each.emoji_name)

it('offers the usual ones to who never reacted', () => {
    const used = new UsedEmoji(memoryKeep())
    used.load(2)
    expect(names(used).slice(0, 3)).toEqual(['+1', 'heart', 'joy'])
})

it('puts the most used first, and of two the last used; others and what is taken back do not count', () => {
    const keep = memoryKeep()
    const used = new UsedEmoji(keep)
    used.load(2)
    for (const name of ['octopus', 'rocket', 'octopus', 'car']) used.apply(reaction(name))
    used.apply(reaction('bus', { user_id: 3 }))
    used.apply(reaction('house', { op: 'remove' }))
    expect(names(used).slice(0, 4)).toEqual(['octopus', 'car', 'rocket', '+1'])
    expect(names(used)).not.toContain('bus')
    expect(names(used)).not.toContain('house')

    const again = new UsedEmoji(keep)
    again.load(2)
    expect(names(again)[0]).toBe('octopus')
    again.load(3)
    expect(names(again)[0]).toBe('+1')
})

it('follows a new habit', () => {
    const used = new UsedEmoji(memoryKeep())
    used.load(2)
    for (let time = 0; time < 40; time += 1) used.apply(reaction('old'))
    for (let time = 0; time < 40; time += 1) used.apply(reaction('new'))
    expect(names(used)[0]).toBe('new')
})
