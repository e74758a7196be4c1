// @vitest-environment happy-dom
import { describe, expect, it } from 'vitest'
import { dress, fileName, formulas } from './content'

const reader = { me: 31, isMyGroup: (id: number) => id === 17, locale: 'en' }

function show(html: string): HTMLElement {
    const page = document.createElement('div')
    page.append(dress(html, reader))
    return page
}

describe('the HTML of a message', () => {
    it.each([
        '<p>a<script>steal()</script></p>',
        '<p onclick="steal()">a</p>',
        '<a href="javascript:steal()">a</a>',
        '<a href="java\tscript:steal()">a</a>',
        '<a href=" data:text/html,steal()">a</a>',
        '<img src="javascript:steal()" onerror="steal()">',
        '<iframe srcdoc="steal()"></iframe>',
        '<form action="steal()"><input name="steal()"></form>',
        '<svg><a href="#"><animate attributeName="href" to="javascript:steal()"></animate></a></svg>',
        '<button formaction="javascript:steal()" data-view="steal()" data-copy="steal()" data-spoiler="steal()">a</button>',
    ])('keeps nothing that acts: %s', (html) => {
        expect(show(html).innerHTML).not.toContain('steal')
    })

    it('has lines, marks and columns where its letters begin, whatever the page runs like', () => {
        const direction = (html: string) => show(html).querySelector('blockquote, ul, ol, table')?.getAttribute('dir')
        expect(direction('<blockquote><p>“Quoted”</p></blockquote>')).toBe('ltr')
        expect(direction('<blockquote><p>1: سطر with words</p></blockquote>')).toBe('rtl')
        expect(direction('<ul><li>אחת</li></ul>')).toBe('rtl')
        expect(direction('<table><tr><td>12</td></tr></table>')).toBe(null)
        const time = show('<p>At <time datetime="2026-11-20T14:00:00Z">x</time></p>').querySelector('time')
        expect(time?.getAttribute('dir')).toBe('auto')
    })

    it('is large where it is one to three emoji and nothing else', () => {
        const emoji = (code: string) => `<span class="emoji emoji-${code}" role="img">:x:</span>`
        const own = '<img alt=":party:" class="emoji" src="/user_avatars/1/emoji/images/1.png">'
        const isLarge = (html: string) => show(html).querySelector('.few-emoji') !== null
        for (const html of [
            `<p>${emoji('1f389')}</p>`,
            `<p>${emoji('2764')} ${own}\n${emoji('1f937-200d-2640')}</p>`,
            '<p>👍🏽</p>',
            '<p>👨‍👩‍👧‍👦🏴󠁧󠁢󠁳󠁣󠁴󠁿1️⃣</p>',
        ])
            expect([html, isLarge(html)]).toEqual([html, true])
        for (const html of [
            `<p>${emoji('1f389').repeat(4)}</p>`,
            `<p>Yes ${emoji('1f389')}</p>`,
            `<p>${emoji('1f389')}</p><p>${emoji('1f389')}</p>`,
            `<p><a href="https://example.com">${emoji('1f389')}</a></p>`,
            `<ul><li>${emoji('1f389')}</li></ul>`,
            '<p>1 2</p>',
            '<p>©</p>',
            '<p></p>',
        ])
            expect([html, isLarge(html)]).toEqual([html, false])
    })

    it('opens links outside, and our own inside', () => {
        const page = show(
            '<a href="https://a.example">a</a><a href="/#narrow/channel/9-dev">b</a><a href="user_uploads/2/x">c</a>',
        )
        const [outside, inside, file] = [...page.querySelectorAll('a')]
        expect([outside?.target, outside?.rel]).toEqual(['_blank', 'noopener noreferrer'])
        expect([inside?.getAttribute('href'), inside?.getAttribute('target')]).toEqual(['#narrow/channel/9-dev', null])
        expect(file?.getAttribute('href')).toBe('/user_uploads/2/x')
    })

    it('offers to run code where the organization says that code of its language runs', () => {
        const playgrounds = [
            { id: 1, name: 'Rust Play', pygments_language: 'Rust', url_template: 'https://play.example/{?code}' },
            { id: 2, name: 'Trap', pygments_language: 'Rust', url_template: 'javascript:{code}' },
        ]
        const block = (language: string) =>
            `<div class="codehilite" data-code-language="${language}"><pre><code>fn <b>main</b>()</code></pre></div>`
        const links = (language: string) => [
            ...dress(block(language), { ...reader, playgrounds }).querySelectorAll<HTMLAnchorElement>('.code-head a'),
        ]
        expect(links('Rust').map((link) => [link.textContent, link.href, link.rel])).toEqual([
            ['Run in Rust Play', 'https://play.example/?code=fn%20main()', 'noopener noreferrer'],
        ])
        expect(links('Python')).toEqual([])
    })

    it('turns inline styles into what the policy allows', () => {
        const cell = show(
            '<table><tbody><tr><td style="text-align: center;">x</td></tr></tbody></table>',
        ).querySelector('td')
        expect([cell?.getAttribute('style'), cell?.dataset['align']]).toEqual([null, 'center'])
    })

    it('shows emoji as characters', () => {
        const page = show('<span aria-label="smile" class="emoji emoji-1f604" role="img" title="smile">:smile:</span>')
        expect(page.textContent).toBe('😄')
    })

    it('marks what mentions me, loudly only', () => {
        const page = show(
            '<span class="user-mention" data-user-id="31">@Ada</span><span class="user-mention" data-user-id="9">@Bo</span>' +
                '<span class="user-group-mention" data-user-group-id="17">@crew</span><span class="user-mention silent" data-user-id="31">Ada</span>',
        )
        expect([...page.children].map((each) => each.classList.contains('mine'))).toEqual([true, false, true, false])
    })

    it('hides a spoiler behind a button', () => {
        const page = show(
            '<div class="spoiler-block"><div class="spoiler-header">\n<p>The <em>end</em></p>\n</div><div class="spoiler-content" aria-hidden="true">\n<p>x</p>\n</div></div>',
        )
        const button = page.querySelector('button')
        expect([button?.textContent, button?.getAttribute('aria-expanded')]).toEqual(['The end', 'false'])
        expect(page.querySelector('.spoiler-content')?.hasAttribute('hidden')).toBe(true)
    })

    it('keeps the place of a picture that is still loading', () => {
        const image = show(
            '<div class="message_inline_image"><a href="/user_uploads/2/ab/x.png" title="x.png"><img data-original-dimensions="1920x1080" src="/user_uploads/thumbnail/2/ab/x.png/840x560.webp"></a></div>',
        ).querySelector('img')
        expect([image?.getAttribute('width'), image?.getAttribute('height'), image?.alt]).toEqual([
            '1920',
            '1080',
            'x.png',
        ])
    })

    it('makes a picture that is in no link a button, for the keyboard', () => {
        const image = show(
            '<p><img alt="x" class="inline-image" data-original-src="/user_uploads/2/ab/x.png" src="/user_uploads/thumbnail/2/ab/x.png/840x560.webp"></p>',
        ).querySelector('img')
        expect([image?.getAttribute('role'), image?.tabIndex, image?.dataset['view']]).toEqual([
            'button',
            0,
            '/user_uploads/2/ab/x.png',
        ])
    })

    it('shows our copy of a picture from elsewhere, and a film where its link leads', () => {
        const page = show(
            '<div class="message_inline_image"><a href="https://a.example/cat.png"><img data-original-dimensions="10x5" src="/external_content/2/ab/840x560.webp"></a></div>' +
                '<div class="youtube-video message_inline_image"><a data-id="x" href="https://youtu.be/x"><img src="/external_content/2/cd/840x560.webp"></a></div>',
        )
        const [picture, film] = page.querySelectorAll('a')
        expect([picture?.dataset['view'], picture?.getAttribute('href')]).toEqual([
            '/external_content/2/ab/840x560.webp',
            'https://a.example/cat.png',
        ])
        expect([film?.dataset['view'], film?.target]).toEqual([undefined, '_blank'])
    })

    it('loads nothing from elsewhere, whatever the server says', () => {
        const page = show(
            ['https://a.example/x', '//a.example/x', '/\\a.example/x', '/\t/a.example/x']
                .map((source) => `<img src="${source}"><video poster="${source}" src="${source}"></video>`)
                .join('') + '<img src="/user_uploads/x"><img srcset="https://a.example/x 2x">',
        )
        const loaded = [...page.querySelectorAll('img, video')].flatMap((each) =>
            ['src', 'srcset', 'poster'].map((name) => each.getAttribute(name)).filter((value) => value !== null),
        )
        expect(loaded).toEqual(['/user_uploads/x'])
    })

    it('shows a preview of a link with our copy of its picture, and lets its author take it away', () => {
        const html = (picture: string) =>
            `<div class="message_embed"><a class="message_embed_image" href="https://a.example/?a&amp;b" style="background-image: url(&quot;${picture}&quot;)"></a>` +
            '<div class="data-container"><div class="message_embed_title"><a href="https://a.example/?a&amp;b" title="T">T</a></div>' +
            '<div class="message_embed_description">D</div></div></div>'
        const ours = '/external_content/2/ab/840x560.webp'
        const sources = (page: ParentNode) => [...page.querySelectorAll('img')].map((each) => each.getAttribute('src'))
        expect(sources(show(html(ours)))).toEqual([ours])
        expect(show(html(ours)).innerHTML).not.toContain('style=')
        expect(sources(show(html('https://a.example/x.png')))).toEqual([])
        const bare = show(html('/static/images/link_preview.svg'))
        expect([sources(bare), bare.textContent]).toEqual([[], 'TD'])
        const page = dress(html(ours), { ...reader, isAuthor: true })
        expect(page.querySelector('button')?.dataset['unpreview']).toBe('https://a.example/?a&b')
    })

    it('finds the formulas', () => {
        const tex =
            '<span class="katex"><span class="katex-mathml"><math><semantics><annotation encoding="application/x-tex">x^2</annotation></semantics></math></span></span>'
        expect(
            formulas(show(`<p>${tex}</p><p><span class="katex-display">${tex}</span></p>`)).map((each) => [
                each.tex,
                each.display,
            ]),
        ).toEqual([
            ['x^2', false],
            ['x^2', true],
        ])
    })

    it('draws no formula that would take long, and not too many', () => {
        const drawn = (...all: string[]) => {
            const spans = all.map((tex) => `<span class="katex"><math><annotation>${tex}</annotation></math></span>`)
            return formulas(show(`<p>${spans.join('')}</p>`)).map((each) => each.tex)
        }
        const long = 'x'.repeat(1001)
        expect(drawn('a', String.raw`\def\a{xx}\a`, 'b')).toEqual(['a', 'b'])
        for (const word of ['gdef', 'let', 'futurelet', 'newcommand', 'renewcommand', 'providecommand', 'global'])
            expect(drawn(`\\${word}\\a{x}`)).toEqual([])
        for (const tex of [
            String.raw`\tag{xx}\df@tag`,
            String.raw`\bra@ket{}{xx}{}{}{|}`,
            String.raw`\@firstoftwo{x}{}`,
        ])
            expect(drawn(tex)).toEqual([])
        expect(drawn(String.raw`\left(x\right)`, String.raw`\longleftarrow`, String.raw`\tag{x@y}`)).toHaveLength(3)
        expect([drawn(long.slice(1)).length, drawn(long).length]).toEqual([1, 0])
        expect(drawn(...Array.from({ length: 120 }, () => 'x'))).toHaveLength(100)
    })
})

it('names a file as people do, also one with a percent sign of its own', () => {
    expect(fileName('/user_uploads/2/caf%C3%A9.png')).toBe('café.png')
    expect(fileName('/user_uploads/2/100%.png')).toBe('100%.png')
})
