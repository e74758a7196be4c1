/** What axe finds serious in a page, or in a frame of one. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Frame, Page } from '@playwright/test'
import type axe from 'axe-core'

const SOURCE = readFileSync(fileURLToPath(new URL('../node_modules/axe-core/axe.min.js', import.meta.url)), 'utf8')

/** The rules that another theme may break; the others do not depend on it. */
export const COLOURS = ['color-contrast', 'link-in-text-block']

/** `rules`: only these, or all. Frames inside are not looked at. */
export async function complaints(page: Page | Frame, rules: string[] | null = null): Promise<string[]> {
    if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(SOURCE)
    return page.evaluate(async (only) => {
        const { axe: tool } = window as unknown as { axe: typeof axe }
        const { violations } = await tool.run(document, {
            iframes: false,
            resultTypes: ['violations'],
            ...(only ? { runOnly: { type: 'rule' as const, values: only } } : {}),
        })
        return violations
            .filter(({ impact }) => impact === 'serious' || impact === 'critical')
            .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`))
    }, rules)
}
