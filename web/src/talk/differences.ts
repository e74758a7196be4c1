/** What changed between two versions of a message, as elements that say so to everybody (pure).
 *
 *  The server marks words with spans of two classes, and never puts a tag inside of one. */
const MARKED = /<span class="highlight_text_(inserted|deleted)">([^<]*)<\/span>/g

export function withDifferences(html: string): string {
    return html.replace(MARKED, (_, kind: string, words: string) => {
        const tag = kind === 'inserted' ? 'ins' : 'del'
        return `<${tag}>${words}</${tag}>`
    })
}
