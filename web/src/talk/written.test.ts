import { beforeEach, describe, expect, it } from 'vitest'
import type { SendPlace } from '../data/outbox.svelte'
import { keyOf } from '../data/place'
import { put, show, Written, type Kept } from './written.svelte'

class FakeDrafts implements Kept {
    all: Record<string, string> = {}
    loose = ''
    textOf = (place: SendPlace) => this.all[keyOf(place)] ?? ''
    write = (place: SendPlace, text: string) => void (this.all[keyOf(place)] = text)
    clear = (place: SendPlace) => void delete this.all[keyOf(place)]
}

const topic = (name: string): SendPlace => ({ kind: 'topic', channelId: 1, topic: name })
let kept: FakeDrafts
let box: Written

function type(text: string) {
    box.text = text
    box.typed()
}

beforeEach(() => {
    kept = new FakeDrafts()
    box = new Written(kept)
})

it('is as it is kept: written on elsewhere, or sent', () => {
    box.come(topic('a'))
    type('for a ')
    kept.write(topic('a'), 'for a')
    box.follow()
    expect(box.text).toBe('for a ')
    kept.write(topic('a'), 'for a and more')
    box.follow()
    expect(box.text).toBe('for a and more')
    kept.clear(topic('a'))
    box.follow()
    expect(box.text).toBe('')
})

describe('in another place', () => {
    it('is the draft of that place, and the other one stays where it was', () => {
        box.come(topic('a'))
        type('for a')
        box.come(topic(''))
        expect(box.text).toBe('')
        box.come(topic('a'))
        expect(box.text).toBe('for a')
    })

    it('is what was addressed to nobody yet', () => {
        box.come(null)
        type('to whom?')
        box.come(topic('a'))
        expect(box.text).toBe('')
        box.come(null)
        expect(box.text).toBe('to whom?')
    })
})

describe('with another recipient', () => {
    it('goes along, and leaves nothing behind', () => {
        box.come(topic(''))
        type('hello')
        for (const name of ['l', 'lu', 'lunch']) box.address(topic(name))
        expect([box.text, kept.all]).toEqual(['hello', { 'topic:1:lunch': 'hello' }])
        box.sent(topic('lunch'))
        expect([box.text, kept.all]).toEqual(['', {}])
    })

    it('goes from nobody to somebody', () => {
        box.come(null)
        type('hello')
        box.address(topic('a'))
        expect([box.text, kept.loose, kept.all]).toEqual(['hello', '', { 'topic:1:a': 'hello' }])
    })

    it('does not disturb drafts on the way', () => {
        kept.all = { 'topic:1:lu': 'of lu' }
        box.come(topic(''))
        type('hello')
        box.address(topic('lu'))
        expect(box.text).toBe('hello')
        box.address(topic('lunch'))
        expect(kept.all).toEqual({ 'topic:1:lu': 'of lu', 'topic:1:lunch': 'hello' })
    })

    it('is sent where a draft waits without losing that one', () => {
        kept.all = { 'topic:1:a': 'of a' }
        box.come(null)
        type('hello')
        box.address(topic('a'))
        type('hello you')
        expect([kept.loose, kept.all]).toEqual(['hello you', { 'topic:1:a': 'of a' }])
        box.sent(topic('a'))
        expect([box.text, kept.loose, kept.all]).toEqual(['of a', '', { 'topic:1:a': 'of a' }])
    })

    it('leaves a draft with its recipient if it was only passed', () => {
        kept.all = { 'topic:1:lu': 'of lu' }
        box.come(topic(''))
        box.address(topic('lu'))
        expect(box.text).toBe('of lu')
        box.address(topic('lun'))
        expect([box.text, kept.all]).toEqual(['', { 'topic:1:lu': 'of lu' }])
        box.address(topic('lu'))
        type('of lu, changed')
        box.address(topic('x'))
        expect(kept.all).toEqual({ 'topic:1:x': 'of lu, changed' })
    })
})

describe('what comes later', () => {
    it('was scheduled: only that text goes', () => {
        box.come(topic('a'))
        type('later')
        expect(box.taken(topic('a'), 'later')).toBe(true)
        expect([box.text, kept.all]).toEqual(['', {}])
        type('more')
        expect(box.taken(topic('a'), 'later')).toBe(false)
        box.come(topic('b'))
        type('other')
        expect(box.taken(topic('a'), 'more')).toBe(false)
        expect([box.text, kept.all]).toEqual(['other', { 'topic:1:b': 'other' }])
    })

    it('is put where it belongs', () => {
        const hide = show(box)
        box.come(topic('a'))
        type('see')
        put(kept, topic('b'), '[file](x)')
        put(kept, topic('a'), '[file](y)')
        put(kept, null, 'loose')
        expect(box.text).toBe('see\n[file](y)')
        expect([kept.all, kept.loose]).toEqual([{ 'topic:1:a': 'see\n[file](y)', 'topic:1:b': '[file](x)' }, 'loose'])
        hide()
        put(kept, topic('a'), 'z')
        expect([box.text, kept.textOf(topic('a'))]).toEqual(['see\n[file](y)', 'see\n[file](y)\nz'])
    })
})
