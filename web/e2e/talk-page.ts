/** What a person sees and does at a place with messages. */
import type { Locator, Page } from '@playwright/test'
import { expect } from './people'

export class TalkPage {
    readonly list: Locator
    readonly box: Locator

    constructor(readonly page: Page) {
        this.list = page.getByRole('log')
        this.box = page.getByRole('combobox', { name: 'Write a message' })
    }

    /** A message by its text; the newest if there are several. */
    message(text: string): Locator {
        return this.page.locator('article[data-message]').filter({ hasText: text }).last()
    }

    /** What is on its way. */
    get outgoing(): Locator {
        return this.page.getByRole('article', { name: 'Your message is being sent' })
    }

    async write(text: string): Promise<void> {
        await this.box.fill(text)
        await this.box.press('Control+Enter')
    }

    async sees(text: string): Promise<void> {
        await expect(this.message(text)).toBeVisible()
    }

    async react(text: string, emoji: string): Promise<void> {
        await this.message(text).hover()
        await this.message(text).getByRole('button', { name: 'React' }).first().click()
        await this.page.getByRole('combobox', { name: 'Search emoji' }).fill(emoji)
        await this.page.getByRole('option', { name: emoji, exact: true }).click()
    }

    async choose(text: string, action: string): Promise<void> {
        await this.message(text).hover()
        await this.message(text).getByRole('button', { name: 'More' }).click()
        // The name holds the key as well.
        const item = this.page.getByText(action, { exact: true })
        await this.page.getByRole('menuitem').filter({ has: item }).click()
    }

    /** The texts on the screen, in order. */
    async texts(): Promise<string[]> {
        return this.page.locator('article[data-message] .message-body').allInnerTexts()
    }
}
