import { expect, test } from 'vitest'
import { withDifferences } from './differences'

test('words that came and went are marked as such, and nothing else', () => {
    const html =
        '<p>A <span class="highlight_text_deleted">red &lt;b&gt; </span><span class="highlight_text_inserted">blue </span>' +
        '<span class="user-mention">@Ada</span></p>'
    expect(withDifferences(html)).toBe(
        '<p>A <del>red &lt;b&gt; </del><ins>blue </ins><span class="user-mention">@Ada</span></p>',
    )
})
