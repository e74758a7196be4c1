/** Shortcuts of one key or a chord, in layers: `addKeys('keys.reading', [{ keys: 'j', word: 'keys.next', run }])` returns
 *  how to take them away. Later layers win. `allKeys()` is what the `?` sheet shows.
 *
 *  `mod` is Ctrl, or Command on a Mac. Single letters rest while the caret is in a text field; chords with `mod` and
 *  those marked `inText` do not. All rest in what is open above the page (questions, menus, pickers), and Enter and Space
 *  belong to the link or button that has the focus. A run that returns false did not apply, and the next layer is asked. */
import type { Word } from '../words/words.svelte'

export interface Key {
    keys: string | string[]
    word: Word
    run: (event: KeyboardEvent) => boolean | void
    inText?: boolean
}

interface Layer {
    title: Word
    keys: Key[]
}

let layers = $state.raw<Layer[]>([])

export const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform)

export function addKeys(title: Word, keys: Key[]): () => void {
    const layer = { title, keys }
    layers = [...layers, layer]
    return () => {
        layers = layers.filter((each) => each !== layer)
    }
}

/** One layer for each title, in the order in which they came. What a later one only does in its own way is said once. */
export function allKeys(): Layer[] {
    const said = new Set<Word>()
    return [...new Set(layers.map((layer) => layer.title))]
        .map((title) => {
            const all = layers.flatMap((layer) => (layer.title === title ? layer.keys : []))
            const keys = all.filter(({ word }) => !said.has(word))
            for (const { word } of keys) said.add(word)
            return { title, keys }
        })
        .filter((layer) => layer.keys.length > 0)
}

export function listenForKeys(target: Window): () => void {
    const listener = (event: KeyboardEvent) => {
        if (event.defaultPrevented || event.isComposing || isAbove(event.target)) return
        const pressed = chordOf(event)
        if ((pressed === 'enter' || pressed === 'space') && isPressed(event.target)) return
        const writing = isText(event.target)
        for (const layer of layers.toReversed())
            for (const key of layer.keys) {
                if (![key.keys].flat().includes(pressed) || (writing && !key.inText && !pressed.includes('mod+')))
                    continue
                if (key.run(event) === false) continue
                event.preventDefault()
                return
            }
    }
    target.addEventListener('keydown', listener)
    return () => target.removeEventListener('keydown', listener)
}

/** `mod+k`, `shift+enter`, `?`: shift is only named where the key's own letter does not show it. */
export function chordOf(event: KeyboardEvent): string {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key.toLowerCase().replace(/^arrow/, '')
    const isLetter = /^[a-z]$/i.test(event.key)
    const named = event.key.length > 1 || isLetter
    const mod = isMac ? event.metaKey : event.ctrlKey
    return [mod && 'mod', event.altKey && 'alt', event.shiftKey && named && 'shift', key === ' ' ? 'space' : key]
        .filter(Boolean)
        .join('+')
}

const plainNames: Record<string, string> = {
    mod: 'Ctrl',
    alt: 'Alt',
    shift: 'Shift',
    enter: 'Enter',
    space: 'Space',
    home: 'Home',
    end: 'End',
    pageup: 'Page Up',
    pagedown: 'Page Down',
    up: '↑',
    down: '↓',
    left: '←',
    right: '→',
}
const keyNames = isMac ? { ...plainNames, mod: '⌘', alt: '⌥', shift: '⇧', enter: '↵' } : plainNames

/** How a chord is written for people: `Ctrl K`, `⌘K`. */
export function chordText(chord: string): string {
    const parts = chord === '+' ? [chord] : chord.split('+')
    return parts.map((part) => keyNames[part] ?? (part.length === 1 ? part.toUpperCase() : part)).join(isMac ? '' : ' ')
}

export function isText(target: EventTarget | null): boolean {
    if (!(target instanceof HTMLElement)) return false
    if (target instanceof HTMLInputElement)
        return !['checkbox', 'radio', 'button', 'range', 'color', 'file'].includes(target.type)
    return target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement || target.isContentEditable
}

const isAbove = (target: EventTarget | null) =>
    target instanceof Element && target.closest('dialog, [popover]') !== null

/** What does something by itself when Enter or Space is pressed on it. */
const isPressed = (target: EventTarget | null) =>
    target instanceof Element && target.matches('a[href], button, summary, input, [role="button"]')
