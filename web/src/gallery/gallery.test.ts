import { readdirSync } from 'node:fs'
import { expect, it } from 'vitest'

const componentsIn = (folder: string) =>
    readdirSync(new URL(folder, import.meta.url)).filter((name) => name.endsWith('.svelte'))

it('every component has a sample, and every sample a component', () => {
    expect(componentsIn('./samples')).toEqual(componentsIn('../ui'))
})
