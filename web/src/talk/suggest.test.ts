import { describe, expect, it } from 'vitest'
import { askedAt } from './suggest'

const asked = (text: string) => askedAt(text, text.length)

describe('what the text asks for', () => {
    it.each([
        ['hi @an', { kind: 'mention', words: 'an', silent: false, from: 3 }],
        ['@_ada b', { kind: 'mention', words: 'ada b', silent: true, from: 0 }],
        ['@**Ada', { kind: 'mention', words: 'Ada', silent: false, from: 0 }],
        ['see #gen', { kind: 'channel', words: 'gen', from: 4 }],
        ['see #**general>lu', { kind: 'topic', channel: 'general', words: 'lu', from: 4 }],
        ['nice :tad', { kind: 'emoji', words: 'tad', from: 5 }],
        ['/po', { kind: 'command', words: 'po', from: 0 }],
    ])('%j', (text, expected) => {
        expect(asked(text)).toEqual(expected)
    })

    it.each([
        'me@example',
        '# Heading',
        '10:30',
        'a :s',
        '`code @an',
        '```\n@an',
        'text /po',
        '@**Ada** hi there you all now',
        'x#1',
    ])('nothing in %j', (text) => {
        expect(asked(text)).toBeNull()
    })
})
