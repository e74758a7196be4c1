/** The HTML of a message made ready for the page. The server has made it safe already; nothing here relies on that alone:
 *  it is parsed in an inert template, and only then, cleaned once more and dressed, does it enter the page.
 *
 *  - Elements and attributes outside the dialect go; links get `rel` and open outside unless they are ours.
 *  - Style attributes go; the alignment of table cells and the pictures of previews are kept as data: the policy forbids
 *    inline styles.
 *  - Emoji are characters, not pictures; times are local; code gets a name and a copy button; spoilers a real button.
 *  - Pictures keep their place while they load. Nothing is loaded from elsewhere: its owner would see who reads.
 *
 *  What is clicked is handled once for the whole list (clicks.ts); elements carry data attributes for it. */
import type { Playground } from '../data/api-schema'
import { emojiText } from '../page/emoji'
import { directionOf } from '../ui/direction'
import { exactTime, momentText } from '../ui/times'
import { t } from '../words/words.svelte'
import { playgroundAddress, playgroundsFor } from './playgrounds'

export interface Reader {
    me: number
    isMyGroup: (id: number) => boolean
    locale: string
    /** The reader wrote it, and may take previews of links away. */
    isAuthor?: boolean
    /** Where code of a language can be run. */
    playgrounds?: readonly Playground[]
}

const FORBIDDEN =
    'script, style, iframe, object, embed, form, input, textarea, select, link, meta, base, template, noscript, svg'
/** Attributes that act, and our own marks (clicks.ts), which only we may set. */
const STRIPPED = ['style', 'srcdoc', 'id', 'formaction', 'data-view', 'data-copy', 'data-spoiler', 'data-unpreview']
const SCHEMES =
    /^(https?|ftp|mid|mailto|tel|sms|smsto|ssh|sip|ircs?|xmpp|matrix|magnet|news|nntp|geo|im|mms|urn|webcal|wtai|bitcoin|openpgp4fpr|hansoft|obsidian|zotero|asanadesktop):/i

/** The styles of the dialect; as attributes the policy would complain of them, even here. */
const CELL_STYLE = /(<t[hd]) style="text-align: (left|right|center);"/g
const PICTURE_STYLE =
    /(<a class="message_embed_image" href="[^"]*") style="background-image: url\(&quot;([^"&]*)&quot;\)"/g
/** Stands for the picture of a page that has none: for clients that show no preview without. */
const NO_PICTURE = '/static/images/link_preview.svg'

export function dress(html: string, reader: Reader): DocumentFragment {
    const template = document.createElement('template')
    template.innerHTML = html.replace(CELL_STYLE, '$1 data-align="$2"').replace(PICTURE_STYLE, '$1 data-picture="$2"')
    const content = template.content
    clean(content)
    // Each block by its own letters: one message may quote another script.
    for (const block of content.querySelectorAll('p, li, h1, h2, h3, h4, h5, h6, td, th'))
        block.setAttribute('dir', 'auto')
    // What holds such blocks has its line, marks and columns where theirs begin. `auto` would not look into them.
    for (const holder of content.querySelectorAll('blockquote, ul, ol, table')) {
        const direction = directionOf(holder.textContent)
        if (direction) holder.setAttribute('dir', direction)
    }
    for (const link of content.querySelectorAll('a')) dressLink(link)
    for (const image of content.querySelectorAll('img')) dressImage(image)
    for (const embed of content.querySelectorAll('div.message_embed')) dressEmbed(embed, reader)
    for (const emoji of content.querySelectorAll('span.emoji')) dressEmoji(emoji)
    for (const code of content.querySelectorAll('div.codehilite')) dressCode(code, reader)
    for (const spoiler of content.querySelectorAll('div.spoiler-block')) dressSpoiler(spoiler)
    for (const time of content.querySelectorAll('time[datetime]')) dressTime(time, reader)
    for (const table of content.querySelectorAll('table')) dressTable(table)
    for (const mention of content.querySelectorAll('.user-mention, .user-group-mention, .topic-mention')) {
        dressMention(mention, reader)
    }
    const [only] = content.children
    if (only && content.children.length === 1 && isFewEmoji(only)) only.classList.add('few-emoji')
    return content
}

const FEW = 3
/** What a reader sees as one picture; the colour of a skin stays plain text. */
const PICTURE = /\p{Emoji_Presentation}|\ufe0f|\u20e3/u
const letters = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** Whether a paragraph is one to three emoji and nothing else: those say it all, and are shown large. */
function isFewEmoji(paragraph: Element): boolean {
    const text = paragraph.textContent.replace(/\s/g, '')
    const pictures = paragraph.querySelectorAll('img.emoji').length
    // Emoji of many parts, such as families and flags, have up to 15 units.
    if (paragraph.tagName !== 'P' || text.length > FEW * 15) return false
    if (paragraph.querySelector(':not(.emoji)')) return false
    const shown = [...letters.segment(text)].map(({ segment }) => segment)
    const count = shown.length + pictures
    return count > 0 && count <= FEW && shown.every((each) => PICTURE.test(each))
}

export interface Formula {
    element: Element
    tex: string
    display: boolean
}

/** Characters of TeX that are drawn in one message. Drawing takes a millisecond for some, of everybody who reads it. */
const MOST_TEX = 1000
/** What a formula costs however short it is, in characters. */
const LEAST_TEX = 10
/** Definitions stand for texts of any length: a short formula could take minutes. So do KaTeX's own words, which have an @ in
 *  their names: `\df@tag` is all that `\tag` was given. */
const DEFINES = /\\(?:(?:[egx]?def|let|futurelet|(?:new|renew|provide)command|global|long)(?![a-zA-Z])|[a-zA-Z]*@)/

/** The TeX of what is drawn; the server names it in the annotation. Whatever is too much stays as it was written. */
export function formulas(root: ParentNode): Formula[] {
    let left = MOST_TEX
    return [...root.querySelectorAll('.katex')]
        .map((element) => ({
            element,
            tex: element.querySelector('annotation')?.textContent ?? '',
            display: element.parentElement?.classList.contains('katex-display') ?? false,
        }))
        .filter(({ tex }) => {
            const cost = Math.max(tex.length, LEAST_TEX)
            if (cost > left || DEFINES.test(tex)) return false
            left -= cost
            return true
        })
}

/** The name at the end of an address, for people. */
export function fileName(address: string): string {
    const name = address.split('/').at(-1) ?? ''
    try {
        return decodeURIComponent(name)
    } catch {
        // A bare percent sign.
        return name
    }
}

function clean(content: DocumentFragment): void {
    for (const element of content.querySelectorAll(FORBIDDEN)) element.remove()
    for (const element of content.querySelectorAll('*')) {
        for (const { name, value } of Array.from(element.attributes)) {
            if (name.startsWith('on') || STRIPPED.includes(name)) element.removeAttribute(name)
            if ((name === 'href' || name === 'xlink:href') && !isSafe(value)) element.removeAttribute(name)
            if ((name === 'src' || name === 'srcset' || name === 'poster') && !isOurs(value))
                element.removeAttribute(name)
        }
    }
}

function isSafe(address: string): boolean {
    const bare = [...address].filter((char) => char > ' ').join('')
    return SCHEMES.test(bare) || !/^[^/?#]*:/.test(bare)
}

/** Whether an address is of the server that this page comes from. */
export function isOurs(address: string): boolean {
    try {
        return new URL(address, location.href).origin === location.origin
    } catch {
        return false
    }
}

function dressLink(link: HTMLAnchorElement): void {
    const href = link.getAttribute('href') ?? ''
    if (/^\/?#/.test(href)) {
        link.setAttribute('href', href.replace(/^\/(?=#)/, ''))
        return
    }
    if (href.startsWith('user_uploads/')) link.setAttribute('href', `/${href}`)
    link.target = '_blank'
    link.rel = 'noopener noreferrer'
}

function dressImage(image: HTMLImageElement): void {
    if (image.classList.contains('emoji')) return
    image.loading = 'lazy'
    image.decoding = 'async'
    image.referrerPolicy = 'no-referrer'
    const size = /^(\d+)x(\d+)$/.exec(image.dataset['originalDimensions'] ?? '')
    if (size) {
        image.setAttribute('width', size[1] as string)
        image.setAttribute('height', size[2] as string)
    }
    const link = image.closest('a')
    if (link) {
        const href = link.getAttribute('href') ?? ''
        // A film is where its link leads; of a picture from elsewhere we have a copy.
        if (!link.dataset['id']) link.dataset['view'] = isOurs(href) ? href : (image.getAttribute('src') ?? '')
        image.alt ||= link.title || link.getAttribute('href')?.split('/').at(-1) || t('message.image')
    } else if (image.classList.contains('inline-image')) {
        image.dataset['view'] = image.dataset['originalSrc'] ?? image.src
        image.tabIndex = 0
        image.setAttribute('role', 'button')
    }
    image.alt ||= t('message.image')
}

function dressEmbed(embed: Element, reader: Reader): void {
    const link = embed.querySelector<HTMLAnchorElement>('a.message_embed_image')
    const address = link?.getAttribute('href')
    const picture = link?.dataset['picture'] ?? ''
    if (link && picture !== NO_PICTURE && isOurs(picture)) {
        const image = document.createElement('img')
        image.loading = 'lazy'
        image.decoding = 'async'
        image.alt = ''
        image.src = picture
        link.append(image)
        // The title below leads to the same page.
        link.tabIndex = -1
        link.setAttribute('aria-hidden', 'true')
    } else link?.remove()
    for (const text of embed.querySelectorAll('.data-container > *')) text.setAttribute('dir', 'auto')
    if (!reader.isAuthor || !address) return
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'unpreview'
    button.dataset['unpreview'] = address
    button.textContent = '×'
    button.title = t('message.unpreview')
    button.setAttribute('aria-label', t('message.unpreview'))
    embed.append(button)
}

function dressEmoji(emoji: Element): void {
    const code = /(?:^| )emoji-([0-9a-f-]+)/.exec(emoji.className)?.[1]
    const text = code ? emojiText(code) : ''
    if (text) emoji.textContent = text
}

function dressCode(block: Element, reader: Reader): void {
    const head = document.createElement('div')
    head.className = 'code-head'
    const name = document.createElement('span')
    name.textContent = block.getAttribute('data-code-language') ?? ''
    const copy = document.createElement('button')
    copy.type = 'button'
    copy.dataset['copy'] = ''
    copy.textContent = t('message.copy')
    head.append(name, ...runLinks(block, name.textContent, reader), copy)
    block.prepend(head)
    const pre = block.querySelector('pre')
    pre?.setAttribute('tabindex', '0')
    pre?.setAttribute('aria-label', t('message.code'))
    pre?.setAttribute('role', 'group')
}

/** Nothing is sent anywhere before one of them is clicked. */
function runLinks(block: Element, language: string, reader: Reader): HTMLAnchorElement[] {
    const code = block.querySelector('code')?.textContent ?? ''
    return playgroundsFor(reader.playgrounds ?? [], language).flatMap((playground) => {
        const address = playgroundAddress(playground.url_template, code)
        if (address === null) return []
        const link = document.createElement('a')
        link.href = address
        link.target = '_blank'
        link.rel = 'noopener noreferrer'
        link.textContent = t('message.run', { name: playground.name })
        return [link]
    })
}

function dressSpoiler(block: Element): void {
    const header = block.querySelector(':scope > .spoiler-header')
    const body = block.querySelector(':scope > .spoiler-content')
    if (!header || !body) return
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'spoiler-header'
    button.dataset['spoiler'] = ''
    button.setAttribute('aria-expanded', 'false')
    const title = header.textContent.trim()
    if (title) for (const part of header.children) button.append(...part.childNodes)
    else button.textContent = t('message.spoiler')
    header.replaceWith(button)
    body.setAttribute('hidden', '')
    body.removeAttribute('aria-hidden')
}

function dressTime(time: Element, reader: Reader): void {
    const seconds = Date.parse(time.getAttribute('datetime') ?? '') / 1000
    if (Number.isNaN(seconds)) return
    time.textContent = momentText(seconds, reader.locale)
    // In the reader's language, whatever the words around it are in.
    time.setAttribute('dir', 'auto')
    time.setAttribute('title', exactTime(seconds, reader.locale))
}

function dressTable(table: HTMLTableElement): void {
    const frame = document.createElement('div')
    frame.className = 'table-frame'
    frame.tabIndex = 0
    frame.setAttribute('role', 'group')
    frame.setAttribute('aria-label', t('message.table'))
    table.replaceWith(frame)
    frame.append(table)
}

function dressMention(mention: Element, reader: Reader): void {
    const user = mention.getAttribute('data-user-id')
    const group = mention.getAttribute('data-user-group-id')
    const silent = mention.classList.contains('silent')
    const mine =
        user === '*' ||
        user === String(reader.me) ||
        mention.classList.contains('topic-mention') ||
        (group !== null && reader.isMyGroup(Number(group)))
    if (mine && !silent) mention.classList.add('mine')
    if (user && user !== '*') {
        mention.setAttribute('role', 'button')
        mention.setAttribute('tabindex', '0')
    }
}
