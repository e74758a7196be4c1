import { expect, test } from 'vitest'
import { memoryKeep } from './keep'
import type { Place } from './place'
import { Visits } from './visits'

const topic = (name: string): Place => ({ kind: 'topic', channelId: 1, topic: name })
const WEEK = 7 * 86_400_000

test('often counts more than once, and lately more than long ago', () => {
    const visits = new Visits(memoryKeep())
    visits.load(5)
    for (const now of [0, 1, 2]) visits.note(topic('often'), now)
    visits.note(topic('lately'), 4 * WEEK)
    expect(visits.of(topic('often'), 3)).toBeCloseTo(3)
    expect(visits.of(topic('often'), 4 * WEEK)).toBeLessThan(visits.of(topic('lately'), 4 * WEEK))
    expect(visits.of(topic('never'), 4 * WEEK)).toBe(0)
    expect(visits.places()).toEqual([topic('lately'), topic('often')])
})

test('they are kept over a reload, for each person by themselves, and only so many', () => {
    const keep = memoryKeep()
    const visits = new Visits(keep)
    visits.load(5)
    for (let number = 0; number < 250; number += 1) visits.note(topic(`t${number}`), number)
    const again = new Visits(keep)
    again.load(5)
    expect(again.places()).toHaveLength(200)
    expect(again.of(topic('t249'), 249)).toBe(1)
    again.load(6)
    expect(again.places()).toEqual([])
})

test('what cannot be read is nothing', () => {
    const keep = memoryKeep()
    keep.set('tertulia.visits.5', '{"broken":')
    const visits = new Visits(keep)
    visits.load(5)
    expect(visits.places()).toEqual([])
})

test('whoever goes takes along where they were, and nothing else', () => {
    const keep = memoryKeep()
    keep.set('tertulia.searches.5', '[]')
    const visits = new Visits(keep)
    visits.load(5)
    visits.note(topic('takeover'))
    Visits.forget(keep)
    expect(keep.names('')).toEqual(['tertulia.searches.5'])
})
