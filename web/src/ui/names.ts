/** What is shown of a name where there is little room (pure). */

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

/** One or two letters for an avatar without a picture: the first of the first and of the last word, in any script. */
export function initials(name: string): string {
    const words = name.trim().split(/\s+/).filter(Boolean)
    const first = (word: string | undefined) => firstLetter(word ?? '')
    const picked = words.length > 1 ? first(words[0]) + first(words.at(-1)) : first(words[0])
    return picked.toLocaleUpperCase() || '?'
}

function firstLetter(word: string): string {
    for (const { segment } of segmenter.segment(word)) return segment
    return ''
}

/** A calm colour for a name, always the same: the hue only, lightness and chroma are the tokens' affair. */
export function hueOf(id: number): number {
    return Math.round((id * 137.508) % 360)
}
