import { expect, it } from 'vitest'
import { violations } from './layers.mjs'

const order = { data: [], ui: [], talk: ['ui', 'data'] }

it('an import downwards, and one within a folder, is allowed', () => {
    const text = "import { t } from '../ui/t'\nimport type { Id } from '../data/types'\nimport './row.css'"
    expect(violations({ 'talk/Row.svelte': text, 'main.ts': "import './talk/Row.svelte'" }, order)).toEqual([])
})

it('an import upwards, sideways or from the top is told of, also a dynamic one and one of types', () => {
    const files = {
        'data/api.ts': "import type { Row } from '../talk/row'",
        'ui/Menu.svelte': "{#await import('../data/api') then api}{api}{/await}",
        'talk/deep/Box.svelte': "import App from '../../App.svelte'\nexport { x } from '../../ui/x'",
    }
    expect(violations(files, order)).toEqual([
        'src/data/api.ts: data may not import talk',
        'src/ui/Menu.svelte: ui may not import data',
        'src/talk/deep/Box.svelte: talk may not import what puts everything together',
    ])
})

it('a new folder needs a place', () => {
    expect(violations({ 'helpers/x.ts': '' }, order)).toEqual([
        'src/helpers/x.ts: the folder helpers has no line in scripts/layers.mjs',
    ])
})
