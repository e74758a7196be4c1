/** What is fetched late is fetched by `Lazy`, which knows what to do when it does not come. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const SOURCE = new URL('../', import.meta.url)

it('no component waits for a part of the program by itself', () => {
    const components = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.endsWith('.svelte'),
    )
    expect(components.length).toBeGreaterThan(100)
    expect(components.filter((name) => /#await\s+import\(/.test(readFileSync(new URL(name, SOURCE), 'utf8')))).toEqual(
        [],
    )
})
