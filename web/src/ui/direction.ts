/** Which way lines run: `dir` of the page, which follows the language that is shown. */

export const isRightToLeft = (): boolean => document.documentElement.dir === 'rtl'

const MIRRORED: Record<string, string> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' }

/** An arrow key as it counts along a line: ArrowRight goes on, ArrowLeft goes back, whichever way the line runs. */
export const alongLine = (key: string): string => (isRightToLeft() ? (MIRRORED[key] ?? key) : key)

/** The direction of a field for words: theirs. While it is empty the page's, which is that of its placeholder. */
export const written = (value: string): 'auto' | undefined => (value ? 'auto' : undefined)

const CODE_TYPES = new Set(['email', 'url', 'tel', 'password'])
const CODE_FILLED = new Set(['email', 'username', 'one-time-code', 'current-password', 'new-password'])

/** The direction of a field: addresses, passwords and what has no spelling to check run from left to right in every language. */
export function directionOf(
    value: string,
    about: { type?: unknown; autocomplete?: unknown; spellcheck?: unknown },
): 'auto' | 'ltr' | undefined {
    const isCode =
        CODE_TYPES.has(String(about.type)) ||
        CODE_FILLED.has(String(about.autocomplete)) ||
        String(about.spellcheck) === 'false'
    return isCode ? 'ltr' : written(value)
}
