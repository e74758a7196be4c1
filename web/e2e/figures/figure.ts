/** What figures are made of. `note` puts one into the table that stands at the end of `npm run figures` (reporter.ts). */
import type { CDPSession, Page } from '@playwright/test'
import { expect, test } from '../people'

export { personOf, channelOf, type Person } from '../people'
export { expect, test }

export function note(what: string, value: string): void {
    test.info().annotations.push({ type: 'figure', description: `${what}|${value}` })
    console.log(`${what}: ${value}`)
}

/** The value below which this part of them is. */
export function quantile(values: readonly number[], part: number): number {
    const sorted = values.toSorted((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}

export interface Use {
    /** Megabytes. */
    heap: number
    nodes: number
    listeners: number
}

/** What the page uses after the garbage is gone. */
export async function useOf(devtools: CDPSession): Promise<Use> {
    // What was let go by finalizers of the first round goes in the second.
    for (let round = 0; round < 2; round += 1) await devtools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await devtools.send('Runtime.getHeapUsage')
    const { nodes, jsEventListeners } = await devtools.send('Memory.getDOMCounters')
    return { heap: usedSize / 1e6, nodes, listeners: jsEventListeners }
}

export function said({ heap, nodes, listeners }: Use): string {
    return `${heap.toFixed(1)} MB, ${nodes} nodes, ${listeners} listeners`
}

/** By keyboard to the end of the talk, where this message is. */
export async function toNewest(page: Page, id: number): Promise<void> {
    await page.getByRole('log').focus()
    await page.keyboard.press('End')
    await expect(page.locator(`article[data-message="${id}"]`)).toBeVisible({ timeout: 60_000 })
}
