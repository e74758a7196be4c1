import { describe, expect, it } from 'vitest'
import { directPlace, hashOf, homeOf, isTalk, keyOf, narrowOf, outOf, placeOf, type Place } from './place'

const places: [string, Place][] = [
    ['#inbox', { kind: 'inbox' }],
    ['#recent', { kind: 'recent' }],
    ['#feed', { kind: 'feed' }],
    ['#feed/near/12', { kind: 'feed', near: 12 }],
    ['#narrow/channel/12', { kind: 'channel', channelId: 12 }],
    ['#narrow/channel/12/topic/lunch', { kind: 'topic', channelId: 12, topic: 'lunch' }],
    ['#narrow/channel/12/topic/lunch/near/345', { kind: 'topic', channelId: 12, topic: 'lunch', near: 345 }],
    ['#narrow/channel/12/topic/', { kind: 'topic', channelId: 12, topic: '' }],
    ['#narrow/channel/12/topic/a.2Fb.20.2E.25.20.C3.A9', { kind: 'topic', channelId: 12, topic: 'a/b .% é' }],
    ['#narrow/dm/8,12', { kind: 'direct', userIds: [8, 12] }],
    ['#narrow/is/dm', { kind: 'directs' }],
    ['#narrow/is/mentioned', { kind: 'mentioned' }],
    ['#narrow/is/starred', { kind: 'starred' }],
    ['#narrow/search/two.20words', { kind: 'search', terms: [{ operator: 'search', operand: 'two words' }] }],
    [
        '#narrow/channel/12/sender/5/search/cake',
        {
            kind: 'search',
            terms: [
                { operator: 'channel', operand: 12 },
                { operator: 'sender', operand: 5 },
                { operator: 'search', operand: 'cake' },
            ],
        },
    ],
    ['#narrow/-is/starred', { kind: 'search', terms: [{ operator: 'is', operand: 'starred', negated: true }] }],
    ['#search', { kind: 'search', terms: [] }],
    ['#search/is/starred', { kind: 'search', terms: [{ operator: 'is', operand: 'starred' }] }],
    ['#search/channel/12/near/3', { kind: 'search', terms: [{ operator: 'channel', operand: 12 }], near: 3 }],
    ['#settings/profile', { kind: 'settings', rest: ['profile'] }],
    ['#channels/12/general', { kind: 'channels', rest: ['12', 'general'] }],
    ['#drafts', { kind: 'drafts' }],
]

describe('addresses', () => {
    it('a word that every object has is an operator like any other', () => {
        for (const word of ['constructor', '__proto__', 'toString']) {
            const place = placeOf(`#narrow/${word}/x`, 2)
            expect(place).toEqual({ kind: 'search', terms: [{ operator: word, operand: 'x' }] })
        }
    })

    it.each(places)('%s is its place, and the place has that address', (hash, place) => {
        expect(placeOf(hash, 2)).toEqual(place)
        expect(hashOf(place)).toBe(hash)
    })

    it('carry the name of a channel for people to read', () => {
        const hash = hashOf({ kind: 'topic', channelId: 3, topic: 'x' }, () => 'the web site')
        expect(hash).toBe('#narrow/channel/3-the-web-site/topic/x')
        expect(placeOf(hash)).toEqual({ kind: 'topic', channelId: 3, topic: 'x' })
    })

    it('of older forms are understood', () => {
        expect(placeOf('#narrow/stream/3-general/subject/x/near/9')).toEqual({
            kind: 'topic',
            channelId: 3,
            topic: 'x',
            near: 9,
        })
        expect(placeOf('#narrow/dm/8,12-group', 12)).toEqual({ kind: 'direct', userIds: [8] })
        expect(placeOf('#narrow/channel/3/topic/100%25')).toEqual({ kind: 'topic', channelId: 3, topic: '100%' })
    })

    it('of a channel that nobody knows is something to look for', () => {
        const terms = [
            { operator: 'channel', operand: 'no-such' },
            { operator: 'search', operand: 'x' },
        ]
        expect(placeOf('#narrow/channel/no-such/search/x')).toEqual({ kind: 'search', terms })
        expect(placeOf(hashOf({ kind: 'search', terms }))).toEqual({ kind: 'search', terms })
    })

    it.each(['', '#', '#nonsense', '#narrow/dm/ann'])('%s is no place', (hash) => {
        expect(placeOf(hash)).toBeNull()
    })
})

describe('a conversation', () => {
    it('is the same whatever the case of its topic and the message shown', () => {
        expect(keyOf({ kind: 'topic', channelId: 1, topic: 'Lunch', near: 4 })).toBe(
            keyOf({ kind: 'topic', channelId: 1, topic: 'lunch' }),
        )
    })

    it('with others is without me, and with nobody else it is with myself', () => {
        expect(directPlace([9, 2, 5, 9], 2)).toEqual({ kind: 'direct', userIds: [5, 9] })
        expect(directPlace([2], 2)).toEqual({ kind: 'direct', userIds: [2] })
    })

    it.each(places.filter(([hash, place]) => isTalk(place) && hash !== '#search'))(
        '%s has terms to ask for',
        (_hash, place) => {
            if (isTalk(place)) expect(narrowOf(place).length).toBeGreaterThan(0)
        },
    )
})

describe('one step out', () => {
    const home: Place = { kind: 'recent' }
    it.each<[Place, Place | null]>([
        [
            { kind: 'topic', channelId: 12, topic: 'lunch', near: 5 },
            { kind: 'channel', channelId: 12 },
        ],
        [{ kind: 'channel', channelId: 12 }, home],
        [
            { kind: 'channels', rest: ['12'] },
            { kind: 'channels', rest: [] },
        ],
        [{ kind: 'channels', rest: [] }, home],
        [{ kind: 'inbox' }, home],
        [home, null],
    ])('of %j is %j', (place, out) => {
        expect(outOf(place, home)).toEqual(out)
    })
})

it('the first page is the one that my settings name', () => {
    expect(['inbox', 'recent_topics', 'all_messages', 'of tomorrow'].map((view) => homeOf(view).kind)).toEqual([
        'inbox',
        'recent',
        'feed',
        'inbox',
    ])
})
