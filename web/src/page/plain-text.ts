import { emojiText } from './emoji'

/** The words of HTML that the server made, for a line that takes no formatting: without markup, and what is hidden stays hidden. */
export function plainText(html: string, most = Infinity): string {
    const page = new DOMParser().parseFromString(html, 'text/html')
    for (const hidden of page.querySelectorAll('.spoiler-content')) hidden.replaceWith('(…)')
    for (const picture of page.querySelectorAll('img.emoji, span.emoji')) {
        const [, code] = /\bemoji-([0-9a-f]+(?:-[0-9a-f]+)*)\b/.exec(picture.className) ?? []
        picture.replaceWith(code ? emojiText(code) : (picture.getAttribute('alt') ?? picture.textContent ?? ''))
    }
    const text = (page.body.textContent ?? '').replaceAll(/\s+/g, ' ').trim()
    return text.length > most ? text.slice(0, most - 1) + '…' : text
}
