// @vitest-environment happy-dom
import { describe, expect, it } from 'vitest'
import { markdownOf } from './rich-paste'

describe('what is pasted', () => {
    it.each([
        [
            'a link',
            '<p>See <a href="https://example.com/a b">the page</a>.</p>',
            'See [the page](https://example.com/a%20b).',
        ],
        ['marks', '<p><b>Bold</b>, <em>soft</em> and <del>gone</del></p>', '**Bold**, *soft* and ~~gone~~'],
        ['spaces at marks', '<p>one<strong> two </strong>three</p>', 'one **two** three'],
        ['marks twice', '<p><b><span style="font-weight:700">Once</span></b></p>', '**Once**'],
        [
            'a document that wraps everything',
            '<b style="font-weight:normal;"><p><span style="font-weight:700">Plan</span><span style="font-style:italic"> now</span></p></b>',
            '**Plan** *now*',
        ],
        ['a heading', '<h2>Plan</h2><p>Go</p>', '## Plan\n\nGo'],
        ['a quotation', '<blockquote><p>One</p><p>Two</p></blockquote>', '> One\n>\n> Two'],
        ['an ending that is none', '<pre>a\n```\nb\n````</pre>', '`````\na\n```\nb\n````\n`````'],
        [
            'a picture of brackets',
            '<img src="https://example.com/a(1).png" alt="A](https://bad.example)\n[b">',
            '[A)(https://bad.example) (b](https://example.com/a%281%29.png)',
        ],
        ['a number that is none', '<ol start="none"><li>One</li></ol>', '1. One'],
        ['code in a line', '<p>Run <code>make</code></p>', 'Run `make`'],
        [
            'a block of code',
            '<pre><code class="language-python">if a:\n    b()\n</code></pre>',
            '```python\nif a:\n    b()\n```',
        ],
        [
            'lists in lists',
            '<ul><li>One<ul><li>Inner</li></ul></li><li><p>Two</p></li></ul><ol start="3"><li>Three</li><li>Four</li></ol>',
            '- One\n  - Inner\n- Two\n\n3. Three\n4. Four',
        ],
        [
            'a spreadsheet',
            '<table><tr><td>Name</td><td>Sum</td></tr><tr><td><b>A|B</b></td><td>7</td></tr><tr><td>C</td></tr></table>',
            '| Name | Sum |\n| --- | --- |\n| **A\\|B** | 7 |\n| C |  |',
        ],
    ])('is Markdown: %s', (_, html, text) => {
        expect(markdownOf(html)).toBe(text)
    })

    it.each([
        ['plain paragraphs', '<p>One</p><p>Two</p>'],
        [
            'an editor of code',
            '<div style="font-family: mono; white-space: pre;"><span style="color: red">a</span> = 1</div>',
        ],
        ['an address that is a link to itself', '<a href="https://example.com">https://example.com</a>'],
        ['nothing', '<meta charset="utf-8">'],
        ['one column', '<table><tr><td>a</td></tr><tr><td>b</td></tr></table>'],
    ])('is left as it is: %s', (_, html) => {
        expect(markdownOf(html)).toBeNull()
    })

    it('brings nothing that acts', () => {
        const html =
            '<p><b>a</b><script>steal()</script><a href="javascript:steal()">b</a><img src="x" onerror="steal()"></p>'
        expect(markdownOf(html)).toBe('**a**b')
    })
})
