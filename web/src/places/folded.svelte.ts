/** Which sections of the side bar are folded: kept in this browser, and the same in all its tabs once they are loaded anew. */
import { SvelteSet } from 'svelte/reactivity'

const NAME = 'tertulia:folded'
const keys = new SvelteSet<string>(read())

export const folded = {
    has: (key: string): boolean => keys.has(key),
    toggle(key: string): void {
        if (!keys.delete(key)) keys.add(key)
        try {
            localStorage.setItem(NAME, JSON.stringify([...keys]))
        } catch {
            // A browser that keeps nothing: it stays folded until the page is left.
        }
    },
}

function read(): string[] {
    try {
        const kept: unknown = JSON.parse(localStorage.getItem(NAME) ?? '[]')
        return Array.isArray(kept) ? kept.filter((each) => typeof each === 'string') : []
    } catch {
        return []
    }
}
