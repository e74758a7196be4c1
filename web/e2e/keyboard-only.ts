/** Hands without a mouse: whatever is wanted is reached by Tab, as far as it is away, and pressed where the focus is. */
import type { Locator, Page } from '@playwright/test'
import { expect, type Person } from './people'

/** More steps than any page has things that take the focus. */
const FAR = 200

/** Tab there, or back with Shift. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
    await expect(target).toBeVisible()
    // Looked for once, unless it is drawn anew: by role and name that takes longer than a key.
    let wanted = await target.elementHandle()
    for (let step = 0; step < FAR; step++) {
        if (!(await wanted?.evaluate((element) => element.isConnected))) wanted = await target.elementHandle()
        const way = await wanted?.evaluate((element) => {
            const at = document.activeElement
            if (at === element) return null
            const isBehind = at && element.compareDocumentPosition(at) & Node.DOCUMENT_POSITION_FOLLOWING
            return isBehind ? 'Shift+Tab' : 'Tab'
        })
        if (!way) return expect(target).toBeFocused()
        await page.keyboard.press(way)
    }
    throw new Error(`Tab does not lead to ${String(target)}`)
}

export class Keys {
    readonly page: Page
    readonly main: Locator

    constructor(readonly person: Person) {
        this.page = person.page
        this.main = this.page.getByRole('main')
    }

    async press(...keys: string[]): Promise<void> {
        for (const key of keys) await this.page.keyboard.press(key)
    }

    async type(text: string): Promise<void> {
        await this.page.keyboard.type(text)
    }

    async reach(target: Locator): Promise<void> {
        await tabTo(this.page, target)
    }

    /** Press a button or follow a link. */
    async enter(target: Locator): Promise<void> {
        await this.reach(target)
        await this.press('Enter')
    }

    async toggle(target: Locator): Promise<void> {
        await this.reach(target)
        await this.press('Space')
    }

    /** In place of what is there. */
    async write(field: Locator, text: string): Promise<void> {
        await this.reach(field)
        await this.press('Control+a', 'Delete')
        await this.type(text)
    }

    /** From a list that a key opens. By its place there: of a word that is typed, a browser that is held up forgets the
     *  beginning and chooses something else. In a long list, by the beginning of its words all the same. */
    async choose(list: Locator, text: string): Promise<void> {
        const isOpen = () => list.evaluate((element) => element.matches(':open'))
        await expect(async () => {
            await this.reach(list)
            await this.press('Space')
            await expect.poll(isOpen).toBe(true)
            const place = (await list.locator('option:enabled').allTextContents()).indexOf(text)
            if (place >= 0 && place < 20) await this.press('Home', ...Array<string>(place).fill('ArrowDown'))
            else await this.type(text)
            await this.press('Enter')
            await expect(list.locator('option:checked')).toHaveText(text, { timeout: 3_000 })
        }).toPass({ timeout: 30_000 })
    }

    /** One of the people, or groups, that are found by typing. */
    async pick(field: Locator, name: string): Promise<void> {
        await this.reach(field)
        await this.type(name)
        const found = this.page.getByRole('option', { name, selected: true })
        await expect(found).toBeVisible()
        await this.press('Enter')
        await expect(found).toHaveCount(0)
    }

    /** Say yes to a question. */
    async agree(question: string | RegExp, yes: string): Promise<void> {
        const dialog = this.page.getByRole('dialog', { name: question })
        await this.enter(dialog.getByRole('button', { name: yes, exact: true }))
        await expect(dialog).toHaveCount(0)
    }

    /** Say once more who is there. */
    async prove(): Promise<void> {
        const dialog = this.page.getByRole('dialog', { name: 'Confirm it’s you' })
        await this.write(dialog.getByLabel('Current password'), this.person.user.password ?? '')
        await this.press('Enter')
        await expect(dialog).toHaveCount(0)
    }
}
