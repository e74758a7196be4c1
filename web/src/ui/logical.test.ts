import { expect, it } from 'vitest'
import { readdirSync, readFileSync } from 'node:fs'
import { fieldDirection } from './direction'

const SRC = new URL('../', import.meta.url)
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
const read = (path: string) => readFileSync(new URL(path, SRC), 'utf8')

/** What says left or right where start and end are meant. */
const PHYSICAL =
    /(?:margin|padding|border|scroll-margin|scroll-padding)-(?:left|right)\b|(?:^|[\s;{])(?:left|right)\s*:\s*[^;{}]+;|(?:text-align|float|clear)\s*:\s*(?:left|right)|border-(?:top|bottom)-(?:left|right)-radius|translateX\((?!calc\([^)]*var\(--along\))/g
/** Four values in a row, of which the second and the fourth differ. */
const SIDES = /\b(?:margin|padding|inset|border-width)\s*:\s*([^\s;]+) +([^\s;]+) +([^\s;]+) +([^\s;]+);/g

it('has styles that mean start and end, so that pages can run from right to left', () => {
    const wrong = files
        .filter((path) => /\.(svelte|css)$/.test(path))
        .flatMap((path) => {
            const text = path.endsWith('.css') ? read(path) : (read(path).split('<style')[1] ?? '')
            const sides = [...text.matchAll(SIDES)].filter(([, , right, , left]) => right !== left)
            return [...text.matchAll(PHYSICAL), ...sides].map(([found]) => `${path}: ${found.trim()}`)
        })
    expect(wrong).toEqual([])
})

it('mirrors every icon that points along the line', () => {
    const pointing =
        /icons\/((?:arrow-(?:left|right)|chevron-(?:left|right)|log-|send|reply|forward|list|text-)[a-z-]*)'/g
    const used = files
        .filter((path) => /\.(svelte|ts)$/.test(path) && !path.startsWith('gallery/'))
        .flatMap((path) => [...read(path).matchAll(pointing)].map(([, icon]) => icon!))
    const rules = read('ui/base.css')
    expect([...new Set(used)].filter((icon) => !rules.includes(`.lucide-${icon}`))).toEqual([])
})

it('says of every field for text which way what is typed runs', () => {
    const FIELDS = /<(?:input|textarea)\b(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|=>|[^>{])*>/g
    const OTHER = /type="(?:checkbox|radio|file|color|date|datetime-local|time|range|number)"/
    const wrong = files
        .filter((path) => path.endsWith('.svelte') && !path.startsWith('gallery/'))
        .flatMap((path) =>
            [
                ...read(path)
                    .replace(/<!--[^]*?-->/g, '')
                    .matchAll(FIELDS),
            ]
                .map(([field]) => field)
                .filter((field) => !OTHER.test(field) && !/\bdir=|\{dir\}/.test(field))
                .map((field) => `${path}: ${field}`),
        )
    expect(wrong).toEqual([])
})

it('knows words from addresses and code', () => {
    expect(fieldDirection('', {})).toBeUndefined()
    expect(fieldDirection('\u0633\u0644\u0627\u0645', { type: 'text' })).toBe('auto')
    expect(fieldDirection('', { type: 'email' })).toBe('ltr')
    expect(fieldDirection('x', { spellcheck: 'false' })).toBe('ltr')
    expect(fieldDirection('x', { type: 'text', autocomplete: 'new-password' })).toBe('ltr')
})
