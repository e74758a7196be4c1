import { describe, expect, it } from 'vitest'
import { readFileSync } from 'node:fs'
import { t, type Word } from './words.svelte'

const read = (file: string): Record<string, string | Record<string, string>> =>
    JSON.parse(readFileSync(new URL(`./${file}`, import.meta.url), 'utf8'))
const namesIn = (entry: unknown) => [...new Set(JSON.stringify(entry).match(/\{\w+\}/g) ?? [])].sort()

describe.each(['ui', 'join', 'talk', 'places', 'settings'])('%s.json', (area) => {
    const [english, spanish] = [read(`en/${area}.json`), read(`es/${area}.json`)]

    it('has the same words in both languages', () => {
        expect(Object.keys(spanish).sort()).toEqual(Object.keys(english).sort())
    })

    it('names the same things in both languages', () => {
        for (const [key, entry] of Object.entries(english))
            expect([key, namesIn(spanish[key])]).toEqual([key, namesIn(entry)])
    })

    it('has every plural form its language needs', () => {
        for (const [words, tag] of [
            [english, 'en'],
            [spanish, 'es'],
        ] as const)
            for (const [key, entry] of Object.entries(words))
                if (typeof entry !== 'string')
                    for (const n of [0, 1, 2, 100]) {
                        const form = new Intl.PluralRules(tag).select(n)
                        expect([key, form, entry[form] !== undefined || entry['other'] !== undefined]).toEqual([
                            key,
                            form,
                            true,
                        ])
                    }
    })
})

it('says a number with its plural', () => {
    expect(t('unread.count', { n: 1 })).toBe('1 unread message')
    expect(t('unread.count', { n: 1200 })).toBe('1,200 unread messages')
})

it('leaves an unknown word visible instead of failing', () => {
    expect(t('no.such.word' as Word)).toBe('no.such.word')
})
