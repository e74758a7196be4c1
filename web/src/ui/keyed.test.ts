/** Keys of lists: two of the same end the drawing of a page, so none is a text that is folded here otherwise than at the server. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const SOURCE = new URL('../', import.meta.url)
const FOLDED = /\{#each [^}]*\(.*(?:toLowerCase|toLocaleLowerCase|normalize|trim)\(\)/g

it('is no key of a list folded by the browser', () => {
    const pages = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((each) => each.endsWith('.svelte'))
    const folded = pages.filter((each) => readFileSync(new URL(each, SOURCE), 'utf8').match(FOLDED))
    expect([pages.length > 100, folded]).toEqual([true, []])
})
