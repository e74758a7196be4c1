import { momentText } from '../ui/times'
import { language } from '../words/words.svelte'
import { emojiText } from './emoji'

/** The words of HTML that the server made, for a line that takes no formatting: without markup, and what is hidden stays hidden. */
export function plainText(html: string, most = Infinity): string {
    const page = new DOMParser().parseFromString(html, 'text/html')
    for (const hidden of page.querySelectorAll('.spoiler-content')) hidden.replaceWith('(…)')
    for (const picture of page.querySelectorAll('img.emoji, span.emoji')) {
        const [, code] = /\bemoji-([0-9a-f]+(?:-[0-9a-f]+)*)\b/.exec(picture.className) ?? []
        picture.replaceWith(code ? emojiText(code) : (picture.getAttribute('alt') ?? picture.textContent ?? ''))
    }
    for (const time of page.querySelectorAll('time[datetime]')) {
        const seconds = Date.parse(time.getAttribute('datetime') ?? '') / 1000
        if (!Number.isNaN(seconds)) time.textContent = momentText(seconds, language())
    }
    const text = (page.body.textContent ?? '').replaceAll(/\s+/g, ' ').trim()
    return text.length > most ? text.slice(0, most - 1) + '…' : text
}
