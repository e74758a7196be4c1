/** The client's words: `t('compose.send')`, `t('unread.count', { n: 3 })`.
 *
 *  One JSON file per area and language (`en/ui.json`, `en/talk.json`, ...): a word is a text with `{names}` or, where a
 *  number decides, an object of plural forms by Intl.PluralRules with the number in `{n}`. English ships with the first
 *  view, except the words of settings, which come with the settings (settings.ts); another language is fetched whole
 *  when it is chosen. Everything shown follows, because the catalogue is state. words.test.ts holds every language to the
 *  same keys, names and plural forms. */
import join from './en/join.json'
import places from './en/places.json'
import type settings from './en/settings.json'
import talk from './en/talk.json'
import ui from './en/ui.json'

const first = { ...ui, ...join, ...talk, ...places }

export type Word = keyof typeof first | keyof typeof settings
type Entry = string | { one?: string; other: string; [form: string]: string | undefined }
export type Catalogue = Record<string, Entry>

const NAMES = {
    en: 'English',
    ar: 'العربية',
    de: 'Deutsch',
    es: 'Español',
    fr: 'Français',
    it: 'Italiano',
    ja: '日本語',
    pl: 'Polski',
    pt: 'Português',
    'zh-hans': '简体中文',
} as const
export type Language = keyof typeof NAMES
const RIGHT_TO_LEFT: ReadonlySet<Language> = new Set(['ar'])
/** What Intl and browsers call a language, where that is another name. */
const TAGS: Partial<Record<Language, string>> = { 'zh-hans': 'zh-Hans' }

/** Each is a chunk of its own. */
const CATALOGUES = import.meta.glob<{ default: Catalogue }>('./*/index.ts')
const catalogueOf = (language: Language) => CATALOGUES[`./${language}/index.ts`]

/** The languages that can be chosen, by their own names. */
export const LANGUAGES: Record<string, string> = Object.fromEntries(
    Object.entries(NAMES).filter(([language]) => language === 'en' || catalogueOf(language as Language)),
)

let english = $state.raw<Catalogue>(first)
let catalogue = $state.raw<Catalogue>({})
let chosen = $state<Language>('en')
let plurals = new Intl.PluralRules('en')

/** The language that is shown, as Intl formatters want it. */
export const language = (): string => tagOf(chosen)

export function t(word: Word, names: Record<string, string | number> = {}): string {
    const entry = catalogue[word] ?? english[word] ?? word
    const text = typeof entry === 'string' ? entry : (entry[plurals.select(Number(names['n']))] ?? entry.other)
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
        const value = names[name]
        return value === undefined ? whole : typeof value === 'number' ? value.toLocaleString(language()) : value
    })
}

/** Whether there is a word of this name, where the name is put together. */
export const hasWord = (name: string): name is Word => Object.hasOwn(english, name)

/** More English words, with the part of the client that shows them. */
export function addEnglish(more: Catalogue): void {
    english = { ...english, ...more }
}

/** The language of ours that is meant (`pt-BR`, `zh-CN`), if it is one. */
export function known(wanted: string): Language | undefined {
    const [family = '', ...rest] = wanted.toLowerCase().replaceAll('_', '-').split('-')
    const isTraditional = rest.some((part) => ['hant', 'tw', 'hk', 'mo'].includes(part))
    const language = family === 'zh' && !isTraditional ? 'zh-hans' : family
    return Object.hasOwn(LANGUAGES, language) ? (language as Language) : undefined
}

/** The language that should be shown and whose words could not be fetched. */
let failed = $state<Language | null>(null)

/** Its name, to say so. */
export const unspoken = (): string | null => failed && NAMES[failed]

let asked = 0
let wish: readonly string[] = []

/** Show the first of these languages that there are words for, or English. */
export async function speak(...wanted: readonly string[]): Promise<void> {
    const turn = ++asked
    wish = wanted
    const language = wanted.map(known).find((found) => found !== undefined) ?? 'en'
    const words = await catalogueOf(language)?.().then(
        (found) => found.default,
        () => null,
    )
    if (turn !== asked) return // somebody has chosen another one while this was on its way
    failed = words === null ? language : null
    if (words === null) return
    catalogue = words ?? {}
    plurals = new Intl.PluralRules(tagOf(language))
    chosen = language
    document.documentElement.lang = tagOf(language)
    document.documentElement.dir = RIGHT_TO_LEFT.has(language) ? 'rtl' : 'ltr'
}

/** Once more what was asked for last. */
export const speakAgain = (): Promise<void> => speak(...wish)

function tagOf(language: Language): string {
    return TAGS[language] ?? language
}
