/** Which way lines run: that of the page is its `dir`, which follows the language that is shown. */

export const isRightToLeft = (): boolean => document.documentElement.dir === 'rtl'

const MIRRORED: Record<string, string> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' }

/** An arrow key as it counts along a line: ArrowRight goes on, ArrowLeft goes back, whichever way the line runs. */
export const alongLine = (key: string): string => (isRightToLeft() ? (MIRRORED[key] ?? key) : key)

/** The direction of a field for words: theirs. While it is empty the page's, which is that of its placeholder. */
export const written = (value: string): 'auto' | undefined => (value ? 'auto' : undefined)

const CODE_TYPES = new Set(['email', 'url', 'tel', 'password'])
const CODE_FILLED = new Set(['email', 'username', 'one-time-code', 'current-password', 'new-password'])

/** The direction of a field: addresses, passwords and what has no spelling to check run from left to right in every language. */
export function fieldDirection(
    value: string,
    about: { type?: unknown; autocomplete?: unknown; spellcheck?: unknown },
): 'auto' | 'ltr' | undefined {
    const isCode =
        CODE_TYPES.has(String(about.type)) ||
        CODE_FILLED.has(String(about.autocomplete)) ||
        String(about.spellcheck) === 'false'
    return isCode ? 'ltr' : written(value)
}

/** A letter of Hebrew, Arabic and their neighbours, by Unicode's blocks. */
export const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

/** The direction of a text by its first letter, as `dir="auto"` does it; null where there is none. */
export function directionOf(text: string): 'ltr' | 'rtl' | null {
    const [letter] = /\p{L}/u.exec(text) ?? []
    return letter === undefined ? null : RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr'
}
