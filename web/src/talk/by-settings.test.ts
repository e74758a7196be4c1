import { expect, it } from 'vitest'
import type { TalkPlace } from '../data/place'
import { marksRead, reactorsText, sendsBy } from './by-settings'

it('what is scrolled past is read as my settings say', () => {
    const places: TalkPlace[] = [
        { kind: 'feed' },
        { kind: 'topic', channelId: 1, topic: 'lunch' },
        { kind: 'direct', userIds: [7] },
        { kind: 'starred' },
        { kind: 'search', terms: [] },
    ]
    const read = (web_mark_read_on_scroll_policy: 1 | 2 | 3) =>
        places.map((place) => marksRead({ web_mark_read_on_scroll_policy }, place))
    expect(read(1)).toEqual([true, true, true, false, false])
    expect(read(2)).toEqual([false, true, true, false, false])
    expect(read(3)).toEqual([false, false, false, false, false])
})

it('Enter sends for those who want it, and with another key for everybody', () => {
    expect(sendsBy({ enter_sends: true }, 'enter')).toBe(true)
    expect(sendsBy({ enter_sends: false }, 'enter')).toBe(false)
    expect(sendsBy({ enter_sends: false }, 'mod+enter')).toBe(true)
    expect(sendsBy({ enter_sends: true }, 'shift+enter')).toBe(false)
})

it('those who reacted are named where they are few, for whoever wants names', () => {
    const name = (id: number) => ({ 7: 'Ana', 8: 'Bo' })[id] ?? ''
    expect(reactorsText({ display_emoji_reaction_users: true }, [7, 8], 3, name)).toBe('Ana and Bo')
    expect(reactorsText({ display_emoji_reaction_users: true }, [7, 8], 4, name)).toBe('2')
    expect(reactorsText({ display_emoji_reaction_users: false }, [7, 8], 2, name)).toBe('2')
})
