/** The words of HTML that the server made, for a line that takes no formatting: without markup, and what is hidden stays hidden. */
export function plainText(html: string, most = Infinity): string {
    const page = new DOMParser().parseFromString(html, 'text/html')
    for (const hidden of page.querySelectorAll('.spoiler-content')) hidden.replaceWith('(…)')
    for (const picture of page.querySelectorAll('img.emoji, span.emoji')) {
        picture.replaceWith(picture.getAttribute('alt') ?? picture.textContent ?? '')
    }
    const text = (page.body.textContent ?? '').replaceAll(/\s+/g, ' ').trim()
    return text.length > most ? text.slice(0, most - 1) + '…' : text
}
