/** The client's words: `t('compose.send')`, `t('unread.count', { n: 3 })`.
 *
 *  One JSON file per area and language (`en/ui.json`, `en/talk.json`, ...): a word is a text with `{names}` or, where a
 *  number decides, an object of plural forms by Intl.PluralRules with the number in `{n}`. English ships with the first
 *  view; another language is fetched when it is chosen, and everything shown follows, because the catalogue is state.
 *  words.test.ts holds every language to the same keys and names. */
import join from './en/join.json'
import places from './en/places.json'
import settings from './en/settings.json'
import talk from './en/talk.json'
import ui from './en/ui.json'

const english = { ...ui, ...join, ...talk, ...places, ...settings }

export type Word = keyof typeof english
type Entry = string | { one?: string; other: string; [form: string]: string | undefined }
type Catalogue = Record<string, Entry>

export const LANGUAGES = { en: 'English', es: 'Español' } as const
export type Language = keyof typeof LANGUAGES

let catalogue = $state.raw<Catalogue>(english)
let chosen = $state<Language>('en')
let plurals = new Intl.PluralRules('en')

/** The language that is shown; also right for Intl formatters. */
export const language = (): Language => chosen

export function t(word: Word, names: Record<string, string | number> = {}): string {
    const entry = catalogue[word] ?? (english as Catalogue)[word] ?? word
    const text = typeof entry === 'string' ? entry : (entry[plurals.select(Number(names['n']))] ?? entry.other)
    return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
        const value = names[name]
        return value === undefined ? whole : typeof value === 'number' ? value.toLocaleString(chosen) : value
    })
}

/** Whether there is a word of this name, where the name is put together. */
export const hasWord = (name: string): name is Word => Object.hasOwn(english, name)

/** Show another language. What has no catalogue is shown in English. */
export async function speak(wanted: string): Promise<void> {
    const language = (wanted.toLowerCase().split('-')[0] ?? 'en') as Language
    const known = language in LANGUAGES ? language : 'en'
    catalogue = known === 'es' ? (await import('./es')).default : english
    plurals = new Intl.PluralRules(known)
    chosen = known
    document.documentElement.lang = known
}
