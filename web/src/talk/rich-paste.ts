/** What was copied from a page, a document or a spreadsheet, as Markdown (pure but for the browser's parser, which is inert).
 *
 *  Documents say "bold" by style as often as by element, and wrap everything in elements that say nothing; both are read.
 *  Text is left as it is: a star that somebody wrote stays a star. */

import { fenceAround } from './format'

/** More than any message holds, with all that office programs write around it: not worth a pause. */
const LONGEST = 1_000_000

/** Null: the plain text says as much. */
export function markdownOf(html: string): string | null {
    if (html.length > LONGEST) return null
    const { body } = new DOMParser().parseFromString(html, 'text/html')
    for (const each of body.querySelectorAll('script, style, noscript, template, title, meta, link, head, svg, iframe'))
        each.remove()
    const reading = new Reading()
    const text = reading.blocks(body).replaceAll('\u00a0', ' ').trim()
    return reading.hasMarks && text ? text : null
}

const BLOCKS =
    'address article aside blockquote body dd details div dl dt figure figcaption footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody tr ul'
const IS_BLOCK = new Set(BLOCKS.toUpperCase().split(' '))
const LINK = /^(https?|mailto|tel):/i
const MARKS = { bold: '**', italic: '*', strike: '~~' } as const
type Mark = keyof typeof MARKS

class Reading {
    /** Something was found that plain text does not say. */
    hasMarks = false

    /** What an element holds, its paragraphs with an empty line between them. */
    blocks(element: Element): string {
        const parts: string[] = []
        let line = ''
        const end = () => {
            if (line.trim()) parts.push(trimLines(line))
            line = ''
        }
        for (const node of element.childNodes) {
            if (node instanceof Element && isBlock(node)) {
                end()
                const block = this.#block(node)
                if (block) parts.push(block)
            } else line += this.#inline(node, [])
        }
        end()
        return parts.join('\n\n')
    }

    #block(element: Element): string {
        const tag = element.tagName
        if (tag === 'PRE') return this.#fence(element)
        if (tag === 'UL' || tag === 'OL') return this.#list(element)
        if (tag === 'TABLE') return this.#table(element)
        if (tag === 'BLOCKQUOTE') return this.#marked(prefixed(this.blocks(element), '> '))
        if (tag === 'HR') return this.#marked('---')
        const text = this.blocks(element)
        const level = /^H([1-6])$/.exec(tag)?.[1]
        return level && text ? this.#marked(`${'#'.repeat(Number(level))} ${text.replace(/\s+/g, ' ')}`) : text
    }

    #marked(text: string): string {
        this.hasMarks = true
        return text
    }

    #fence(element: Element): string {
        const text = element.textContent.replace(/\n+$/, '')
        const mark = fenceAround(text)
        const named = element.querySelector('code[class*="language-"]') ?? element
        const language = /(?:^|\s)language-([\w+#-]+)/.exec(named.className)?.[1] ?? ''
        return this.#marked(`${mark}${language}\n${text}\n${mark}`)
    }

    #list(element: Element): string {
        let number = Number.parseInt(element.getAttribute('start') ?? '1', 10) - 1 || 0
        const isNumbered = element.tagName === 'OL'
        const lines: string[] = []
        for (const item of element.children) {
            // Word processors put a list within a list beside the items.
            if (item.tagName === 'UL' || item.tagName === 'OL') lines.push(prefixed(this.#list(item), '  '))
            if (item.tagName !== 'LI') continue
            number += 1
            const sign = isNumbered ? `${number}. ` : '- '
            const text = this.blocks(item).replace(/\n{2,}/g, '\n')
            lines.push(sign + prefixed(text, ' '.repeat(isNumbered ? 3 : 2)).trimStart())
        }
        return this.#marked(lines.join('\n'))
    }

    /** A table of one cell, or of one column, is layout or a list of lines. */
    #table(element: Element): string {
        const rows = [...element.querySelectorAll('tr')].filter((row) => row.closest('table') === element)
        const cells = rows.map((row) => [...row.children].filter((cell) => /^T[HD]$/.test(cell.tagName)))
        const width = Math.max(0, ...cells.map((row) => row.length))
        if (width < 2) return cells.map(([cell]) => (cell ? this.blocks(cell) : '')).join('\n')
        const [head = [], ...rest] = cells.map((row) => Array.from({ length: width }, (_, at) => this.#cell(row[at])))
        const lines = [head, head.map(() => '---'), ...rest].map((row) => `| ${row.join(' | ')} |`)
        return this.#marked(lines.join('\n'))
    }

    #cell(cell: Element | undefined): string {
        return cell ? this.blocks(cell).replace(/\s+/g, ' ').replaceAll('|', '\\|') : ''
    }

    #inline(node: Node, around: readonly Mark[]): string {
        if (node instanceof Text) return isPreserved(node) ? node.data : node.data.replace(/[\s\u00a0]+/g, ' ')
        if (!(node instanceof Element)) return ''
        if (node.tagName === 'BR') return '\n'
        if (node.tagName === 'IMG') return this.#picture(node)
        if (node.tagName === 'INPUT') return ''
        if (node.tagName === 'CODE' || node.tagName === 'KBD' || node.tagName === 'TT') {
            const code = node.textContent.trim()
            return code ? this.#marked(code.includes('`') ? `\`\` ${code} \`\`` : `\`${code}\``) : ''
        }
        const marks = marksOf(node).filter((mark) => !around.includes(mark))
        const inside = [...node.childNodes].map((each) => this.#inline(each, [...around, ...marks])).join('')
        const linked = node.tagName === 'A' ? this.#link(node, inside) : inside
        return marks.reduce((text, mark) => this.#wrapped(text, MARKS[mark]), linked)
    }

    /** Marks stand at the words, not at the spaces around them. */
    #wrapped(text: string, mark: string): string {
        const words = text.trim()
        if (!words) return text
        const at = text.indexOf(words)
        return this.#marked(`${text.slice(0, at)}${mark}${words}${mark}${text.slice(at + words.length)}`)
    }

    #link(element: Element, inside: string): string {
        const address = element.getAttribute('href')?.trim() ?? ''
        const words = inside.trim().replace(/\s+/g, ' ')
        if (!LINK.test(address) || !words) return inside
        if (words === address || `mailto:${words}` === address) return inside
        const at = inside.indexOf(inside.trim())
        const link = linkTo(words, address)
        return this.#marked(`${inside.slice(0, at)}${link}${inside.slice(at + inside.trim().length)}`)
    }

    #picture(element: Element): string {
        const address = element.getAttribute('src')?.trim() ?? ''
        const words = element.getAttribute('alt')?.trim().replace(/\s+/g, ' ') ?? ''
        return /^https?:/i.test(address) && words ? this.#marked(linkTo(words, address)) : words
    }
}

/** Nothing in the words or the address ends the link. */
function linkTo(words: string, address: string): string {
    const target = address.replaceAll('(', '%28').replaceAll(')', '%29').replace(/\s/g, '%20')
    return `[${words.replaceAll('[', '(').replaceAll(']', ')')}](${target})`
}

function isBlock(element: Element): boolean {
    return IS_BLOCK.has(element.tagName) || [...element.children].some((child) => isBlock(child))
}

function marksOf(element: Element): Mark[] {
    const style = element.getAttribute('style') ?? ''
    const weight = /font-weight:\s*(\w+)/.exec(style)?.[1]
    const isBold = weight ? weight === 'bold' || Number(weight) >= 600 : /^(B|STRONG)$/.test(element.tagName)
    const slope = /font-style:\s*(\w+)/.exec(style)?.[1]
    const isItalic = slope ? slope === 'italic' : /^(I|EM)$/.test(element.tagName)
    const isStruck = /text-decoration[^;]*line-through/.test(style) || /^(S|DEL|STRIKE)$/.test(element.tagName)
    return [isBold && 'bold', isItalic && 'italic', isStruck && 'strike'].filter((mark) => mark !== false) as Mark[]
}

/** Editors of code keep spaces by style. */
function isPreserved(text: Text): boolean {
    return text.parentElement?.closest('[style*="white-space: pre"], [style*="white-space:pre"]') !== null
}

const prefixed = (text: string, prefix: string) =>
    text
        .split('\n')
        .map((line) => (line ? prefix + line : prefix.trimEnd()))
        .join('\n')

const trimLines = (text: string) =>
    text
        .split('\n')
        .map((line) => line.trim())
        .join('\n')
        .trim()
