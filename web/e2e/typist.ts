/** Who has nothing else to do than press keys: no mouse, and the focus only where keys lead it. */
import type { Locator } from '@playwright/test'
import { tabTo } from './keyboard-only'
import { expect, type Person } from './people'
import { TalkPage } from './talk-page'

/** More than any menu has lines. */
const FAR = 60

export class Typist extends TalkPage {
    readonly main = this.page.getByRole('main')
    readonly press = (key: string) => this.page.keyboard.press(key)
    readonly type = (text: string) => this.page.keyboard.type(text)

    /** Find something by Ctrl-K and go there. */
    async find(text: string): Promise<void> {
        await this.press('Control+k')
        const field = this.page.getByRole('combobox', { name: /Find a place/ })
        await expect(field).toBeFocused()
        await this.type(text)
        await expect(this.page.getByRole('option', { name: text, selected: true })).toBeVisible()
        await this.press('Enter')
        await expect(field).toHaveCount(0)
    }

    async tabTo(wanted: Locator): Promise<void> {
        await tabTo(this.page, wanted)
    }

    /** Go from message to message until at this one, and no further. */
    async reach(text: string): Promise<Locator> {
        const wanted = this.message(text)
        await expect(wanted).toBeVisible()
        const id = Number(await wanted.getAttribute('data-message'))
        const at = () =>
            this.page.evaluate(() =>
                Number(document.activeElement?.closest<HTMLElement>('[data-message]')?.dataset['message'] ?? 0),
            )
        for (let before = await at(); before !== id; before = await at()) {
            await this.press(before !== 0 && before < id ? 'j' : 'k')
            await expect.poll(at).not.toBe(before)
        }
        await expect(wanted).toBeFocused()
        return wanted
    }

    /** In the menu that is open: by its first letter to this item, and Enter. */
    async choice(action: string): Promise<void> {
        const menu = this.page.getByRole('menu')
        await expect(menu.locator(':focus')).toHaveCount(1)
        const item = menu.locator('button').filter({ has: this.page.getByText(action, { exact: true }) })
        await expect(item).toBeVisible()
        const isHere = () => item.evaluate((element) => element === document.activeElement)
        for (let pressed = 0; pressed < FAR && !(await isHere()); pressed += 1) await this.press(action.slice(0, 1))
        await expect(item).toBeFocused()
        await this.press('Enter')
    }

    /** Go to a message and take this from its menu. */
    async act(text: string, action: string): Promise<void> {
        await this.reach(text)
        await this.press('m')
        await this.choice(action)
    }

    /** From the beginning of the page to the menu in the head of the conversation, and take this from it. */
    async actOnAll(action: string): Promise<void> {
        await this.tabTo(this.main.getByRole('button', { name: 'More', exact: true }).first())
        await this.press('Enter')
        await this.choice(action)
    }
}

/** At this place, with nothing pressed yet. */
export async function typistAt(person: Person, hash: string): Promise<Typist> {
    await person.go(hash)
    const at = new Typist(person.page)
    await expect(at.main).toBeFocused()
    return at
}
