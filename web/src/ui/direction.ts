/** Which way a text runs. */

/** A letter of Hebrew, Arabic and their neighbours, by Unicode's blocks. */
export const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

/** By the first letter, as `dir="auto"` does it; null where there is none. */
export function directionOf(text: string): 'ltr' | 'rtl' | null {
    const [letter] = /\p{L}/u.exec(text) ?? []
    return letter === undefined ? null : RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr'
}
