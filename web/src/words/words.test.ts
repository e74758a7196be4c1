import { describe, expect, it } from 'vitest'
import { readdirSync, readFileSync } from 'node:fs'
import { known, LANGUAGES, t, type Word } from './words.svelte'

type Entries = Record<string, string | Record<string, string>>

const HERE = new URL('./', import.meta.url)
const AREAS = ['ui', 'join', 'talk', 'places', 'settings']
const read = (file: string): Entries => JSON.parse(readFileSync(new URL(file, HERE), 'utf8'))
const wordsOf = (language: string): Entries =>
    Object.assign({}, ...AREAS.map((area) => read(`${language}/${area}.json`))) as Entries
const namesIn = (entry: unknown) => [...new Set(JSON.stringify(entry).match(/\{\w+\}/g) ?? [])].sort()
const folders = readdirSync(HERE, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'glossary')
    .map((entry) => entry.name)

/** The plural forms of whole numbers. Those of millions alone (Spanish) may be left out: `other` stands in for them. */
function formsOf(language: string): string[] {
    const rules = new Intl.PluralRules(language)
    return [...new Set([...Array.from({ length: 200 }, (_, n) => rules.select(n)), 'other'])].sort()
}

const english = wordsOf('en')

it('knows every language that has a folder', () => {
    expect(Object.keys(LANGUAGES).sort()).toEqual(folders.sort())
})

describe.each(folders)('%s', (language) => {
    const words = wordsOf(language)

    it('has every word, and no other', () => {
        expect(Object.keys(words).sort()).toEqual(Object.keys(english).sort())
    })

    it('names the same things', () => {
        for (const [key, entry] of Object.entries(english))
            expect([key, namesIn(words[key])]).toEqual([key, namesIn(entry)])
    })

    it('has the plural forms of its language', () => {
        const forms = formsOf(language)
        for (const [key, entry] of Object.entries(english)) {
            expect([key, typeof words[key]]).toEqual([key, typeof entry])
            if (typeof entry === 'string') expect([key, (words[key] as string).trim() === '']).toEqual([key, false])
            else {
                const there = Object.keys(words[key] as object).filter(
                    (form) => form !== 'many' || forms.includes(form),
                )
                expect([key, there.sort()]).toEqual([key, forms])
            }
        }
    })
})

it('has no word of the settings in what is shown without them', () => {
    const settings = new Set(Object.keys(read('en/settings.json')))
    const sources = readdirSync(new URL('../', HERE), { recursive: true, encoding: 'utf8' }).filter(
        (path) => /\.(ts|svelte)$/.test(path) && !/^(settings|words|gallery)\/|\.test\.ts$/.test(path),
    )
    const strays = sources.flatMap((path) =>
        [...readFileSync(new URL(`../${path}`, HERE), 'utf8').matchAll(/['"`]([a-z]\w*(?:\.\w+)+)['"`]/g)]
            .filter(([, word = '']) => settings.has(word))
            .map(([, word]) => `${path}: ${word}`),
    )
    expect(strays).toEqual([])
})

it('says a number with its plural', () => {
    expect(t('unread.count', { n: 1 })).toBe('1 unread message')
    expect(t('unread.count', { n: 1200 })).toBe('1,200 unread messages')
})

it('leaves an unknown word visible instead of failing', () => {
    expect(t('no.such.word' as Word)).toBe('no.such.word')
})

it('takes a kind of a language for that language', () => {
    expect(['en-GB', 'es-MX', 'EN_us'].map(known)).toEqual(['en', 'es', 'en'])
    expect(['zh-TW', 'zh-Hant', 'fi', ''].map(known)).toEqual([undefined, undefined, undefined, undefined])
    if ('pt' in LANGUAGES) expect(['pt-BR', 'pt-PT'].map(known)).toEqual(['pt', 'pt'])
    if ('zh-hans' in LANGUAGES)
        expect(['zh', 'zh-CN', 'zh-Hans-SG', 'zh-hans'].map(known)).toEqual(Array(4).fill('zh-hans'))
})

it('has the names of all pages of settings with the first view: the palette lists them', () => {
    const first = { ...read('en/ui.json'), ...read('en/places.json') }
    const tabs = readFileSync(new URL('../settings/tabs.ts', import.meta.url), 'utf8')
    const lists = [...tabs.matchAll(/_TABS = \[(.*?)\]/gs)].map(([, list = '']) => list.match(/\w+/g) ?? [])
    expect(lists.map((list) => list.length > 5)).toEqual([true, true])
    const names = lists.flatMap((list, index) => list.map((tab) => `${['own', 'org'][index]}.${tab}`))
    expect(names.filter((name) => !(name in first))).toEqual([])
})
