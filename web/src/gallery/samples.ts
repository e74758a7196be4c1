/** One sample for each component of `src/ui`, by its name; gallery.test.ts holds that none is missing. */
import type { Component } from 'svelte'
import type { Look } from './looks'

const found = import.meta.glob<Component<{ look: Look }>>('./samples/*.svelte', { eager: true, import: 'default' })

export const SAMPLES: ReadonlyMap<string, Component<{ look: Look }>> = new Map(
    Object.entries(found).map(([path, sample]) => [path.replace(/^.*\/|\.svelte$/g, ''), sample]),
)

/** How much room a sample needs; those that float have more than they take in the flow. */
export const HEIGHT: Readonly<Record<string, number>> = {
    Dialog: 300,
    Empty: 220,
    Field: 250,
    Menu: 300,
    Page: 220,
    Panel: 260,
    Popover: 220,
}
