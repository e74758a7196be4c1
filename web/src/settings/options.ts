/** The options of a list that somebody edits as lines of text (pure). */

interface Option {
    value: string
    text: string
}

/** What was there, as it is spelled now: where only spellings were changed, an option is still the one in its line. */
export function respelled(before: readonly Option[], texts: readonly string[]): Option[] {
    const [old, now] = [new Set(before.map((option) => option.text)), new Set(texts)]
    if (before.length !== texts.length || now.size !== texts.length) return [...before]
    return before.map((option, line) => {
        const text = texts[line] ?? option.text
        return now.has(option.text) || old.has(text) ? option : { ...option, text }
    })
}
