/** How well a name fits what was typed, and the best of many (pure). */

/** 0 whole, 1 beginning, 2 beginning of a word, 3 inside; null not at all. Case and accents do not count. */
export function fits(name: string, words: string): number | null {
    const [whole, wanted] = [plain(name), plain(words)]
    if (!wanted || whole === wanted) return 0
    if (whole.startsWith(wanted)) return 1
    if (whole.includes(` ${wanted}`)) return 2
    return whole.includes(wanted) ? 3 : null
}

/** As `fits`, and then: 4 every word is somewhere in it, in any order; 5 the letters are in it, in this order and not far
 *  from each other. */
export function fitsLoosely(name: string, words: string): number | null {
    const close = fits(name, words)
    if (close !== null) return close
    const [whole, wanted] = [plain(name), plain(words)]
    const tokens = wanted.split(/\s+/)
    if (tokens.length > 1 && tokens.every((token) => whole.includes(token))) return 4
    return wanted.length > 2 && spanOf(whole, wanted.replaceAll(/\s/g, '')) <= 3 * wanted.length ? 5 : null
}

/** How many letters of a text it takes to find these in their order, each as soon as it comes. */
function spanOf(text: string, letters: string): number {
    const start = text.indexOf(letters[0] ?? '')
    let at = start
    for (const letter of letters) {
        at = text.indexOf(letter, at) + 1
        if (at === 0) return Infinity
    }
    return at - start
}

/** The best of `all`, each by the first that fits of its names; `weight` breaks ties (less is better). */
export function best<T>(
    all: Iterable<T>,
    words: string,
    nameOf: (item: T) => string,
    most = 8,
    weight: (item: T) => number = () => 0,
): T[] {
    const found: { item: T; score: number; weight: number; name: string }[] = []
    for (const item of all) {
        const name = nameOf(item)
        const score = fits(name, words)
        if (score !== null) found.push({ item, score, weight: weight(item), name })
    }
    return found
        .sort((a, b) => a.score - b.score || a.weight - b.weight || a.name.localeCompare(b.name))
        .slice(0, most)
        .map((each) => each.item)
}

function plain(text: string): string {
    return text.trim().toLowerCase().normalize('NFD').replace(/\p{M}/gu, '')
}
