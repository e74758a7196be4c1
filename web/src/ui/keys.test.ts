// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, it } from 'vitest'
import { addKeys, allKeys, chordText, listenForKeys } from './keys.svelte'

let pressed: string[] = []
let release: (() => void)[] = []

beforeEach(() => {
    pressed = []
    const run = (event: KeyboardEvent) => void pressed.push(event.key)
    release = [
        listenForKeys(window),
        addKeys('keys.reading', [{ keys: ['n', 'enter', 'mod+k'], word: 'keys.next', run }]),
    ]
})
afterEach(() => {
    for (const each of release) each()
    document.body.innerHTML = ''
})

function press(html: string, key: string, more: KeyboardEventInit = {}) {
    document.body.innerHTML = html
    const target = document.querySelector('[data-at]') ?? document.body
    target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true, ...more }))
    return pressed
}

it('a letter is a short cut on the page, and a letter in a field', () => {
    expect(press('<article data-at></article>', 'n')).toEqual(['n'])
    expect(press('<textarea data-at></textarea>', 'n')).toEqual(['n'])
})

it('a chord works in a field as well', () => {
    expect(press('<input data-at>', 'k', { ctrlKey: true })).toEqual(['k'])
})

it.each(['<a href="#x" data-at></a>', '<button data-at></button>', '<span role="button" data-at></span>'])(
    'Enter belongs to %s',
    (html) => {
        expect(press(html, 'Enter')).toEqual([])
    },
)

it('Enter is a short cut elsewhere', () => {
    expect(press('<article data-at></article>', 'Enter')).toEqual(['Enter'])
})

it.each(['<dialog open><button data-at></button></dialog>', '<div popover><button data-at></button></div>'])(
    'all rest in %s',
    (html) => {
        expect(press(html, 'n')).toEqual([])
        expect(press(html, 'k', { ctrlKey: true })).toEqual([])
    },
)

it('the sheet names each part once, with the keys of all its layers', () => {
    release.push(addKeys('keys.writing', [{ keys: 'c', word: 'keys.compose', run: () => {} }]))
    release.push(addKeys('keys.reading', [{ keys: 'j', word: 'keys.previous', run: () => {} }]))
    release.push(addKeys('keys.everywhere', []))
    const shown = allKeys().map((layer) => [layer.title, layer.keys.map((key) => key.word)])
    expect(shown).toEqual([
        ['keys.reading', ['keys.next', 'keys.previous']],
        ['keys.writing', ['keys.compose']],
    ])
})

it.each([
    ['mod+k', 'Ctrl K'],
    ['+', '+'],
    ['pagedown', 'Page Down'],
    ['shift+up', 'Shift ↑'],
])('%s is written %s', (chord, text) => {
    expect(chordText(chord)).toBe(text)
})
