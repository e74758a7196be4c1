/** Whether a page fits its screen. */
import type { Page } from '@playwright/test'

/** What reaches beyond the edge of the screen and could be scrolled to, sideways. The row of tabs is meant to. */
export async function stickingOut(page: Page): Promise<string[]> {
    return page.evaluate(() => {
        const isCut = (element: Element | null): boolean =>
            element !== null &&
            element !== document.body &&
            (['hidden', 'clip'].includes(getComputedStyle(element).overflowX) ||
                element.matches('main nav') ||
                isCut(element.parentElement))
        const width = document.documentElement.clientWidth
        const found = [...document.body.querySelectorAll('*')]
            .filter((element) => {
                const box = element.getBoundingClientRect()
                return box.width > 1 && (box.right > width + 1 || box.left < -1) && !isCut(element.parentElement)
            })
            .map((element) => `${element.tagName} ${element.className} ${element.textContent?.trim().slice(0, 40)}`)
        return document.documentElement.scrollWidth > innerWidth ? ['the page itself', ...found] : found
    })
}
