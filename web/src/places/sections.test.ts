import { expect, test } from 'vitest'
import type { ApiFolder } from '../data/api-types'
import type { Channel } from '../data/realm.svelte'
import { foldsQuiet, isQuiet, sectionsOf } from './sections'

function channel(name: string, more: Partial<Channel> = {}): Channel {
    const plain = { name, isSubscribed: true, is_archived: false, is_muted: false, pin_to_top: false, folder_id: null }
    return { ...plain, ...more } as Channel
}

function folder(id: number, order: number, is_archived = false): [number, ApiFolder] {
    return [id, { id, name: `folder ${id}`, order, is_archived } as ApiFolder]
}

test('pinned channels come first, then folders in their order, then the rest; muted ones last in each', () => {
    const channels = [
        channel('beta'),
        channel('Alpha', { is_muted: true }),
        channel('plans', { folder_id: 2 }),
        channel('news', { folder_id: 1 }),
        channel('top', { pin_to_top: true, folder_id: 1 }),
        channel('gone', { isSubscribed: false }),
        channel('old', { is_archived: true }),
    ]
    const sections = sectionsOf(channels, new Map([folder(1, 5), folder(2, 3)]), 'en')
    expect(sections.map((each) => [each.key, each.channels.map((one) => one.name)])).toEqual([
        ['pinned', ['top']],
        ['folder:2', ['plans']],
        ['folder:1', ['news']],
        ['other', ['beta', 'Alpha']],
    ])
})

test('a channel in an archived folder, or in one that is unknown, is among the rest', () => {
    const channels = [channel('a', { folder_id: 1 }), channel('b', { folder_id: 9 })]
    const sections = sectionsOf(channels, new Map([folder(1, 0, true)]), 'en')
    expect(sections.map((each) => [each.key, each.channels.map((one) => one.name)])).toEqual([['other', ['a', 'b']]])
})

test('names with numbers are in the order of the numbers', () => {
    const sections = sectionsOf([channel('room 10'), channel('room 9')], new Map(), 'en')
    expect(sections[0]?.channels.map((one) => one.name)).toEqual(['room 9', 'room 10'])
})

test('a channel is quiet when nothing was said in it for long, and never a pinned or a new one', () => {
    const at = (more: Partial<Channel>) => isQuiet(channel('a', { is_recently_active: true, ...more }))
    expect(at({ stream_weekly_traffic: 0 })).toBe(true)
    expect(at({ stream_weekly_traffic: 3, is_recently_active: false })).toBe(true)
    expect(at({ stream_weekly_traffic: 3 })).toBe(false)
    expect(at({ stream_weekly_traffic: null })).toBe(false)
    expect(at({ stream_weekly_traffic: 0, pin_to_top: true })).toBe(false)
})

test('quiet channels are folded away where there are many, or as the settings say', () => {
    const sections = (count: number) =>
        sectionsOf(
            Array.from({ length: count }, (_, at) => channel(`c${at}`)),
            new Map(),
            'en',
        )
    expect([1, 2, 3].map((policy) => foldsQuiet(policy, sections(29)))).toEqual([false, true, false])
    expect([1, 2, 3].map((policy) => foldsQuiet(policy, sections(30)))).toEqual([true, true, false])
})
