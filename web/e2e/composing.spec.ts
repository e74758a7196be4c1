/** What can be put into a message besides words: what was copied elsewhere, files, polls, snippets, one's voice; and to whom. */
import { expect, makeChannel, test, unique } from './people'
import { PICTURE } from './pictures'
import { TalkPage } from './talk-page'

test('a table and links are pasted, a file is tried again, a poll and a snippet are made', async ({
    newcomer,
    dev,
}) => {
    const pia = await newcomer('Pia Composes')
    const { page } = pia
    const id = await makeChannel(dev, unique('studio'), [pia])
    await pia.send(id, 'paint', 'Begin')
    const talk = new TalkPage(page)
    await pia.go(`#narrow/channel/${id}/topic/paint`)
    await talk.sees('Begin')
    const paste = (html: string, text: string) =>
        talk.box.evaluate(
            (field, given) => {
                const clipboardData = new DataTransfer()
                clipboardData.setData('text/html', given.html)
                clipboardData.setData('text/plain', given.text)
                clipboardData.items.add(new File(['x'], 'picture of it.png', { type: 'image/png' }))
                ;(field as HTMLElement).focus()
                field.dispatchEvent(new ClipboardEvent('paste', { bubbles: true, cancelable: true, clipboardData }))
            },
            { html, text },
        )
    await paste('<table><tr><th>Hue</th><th>Ml</th></tr><tr><td><b>Red</b></td><td>7</td></tr></table>', 'Hue Ml')
    await expect(talk.box).toHaveValue('| Hue | Ml |\n| --- | --- |\n| **Red** | 7 |')
    await talk.box.press('Control+Enter')
    await expect(talk.message('Hue').getByRole('cell', { name: 'Red' })).toBeVisible()

    const refused = (url: URL) => url.pathname.endsWith('/user_uploads')
    await page.route(refused, (route) => route.abort())
    await page.locator('input[type="file"]').setInputFiles({ name: 'red.png', mimeType: 'image/png', buffer: PICTURE })
    const chip = page.getByRole('list', { name: 'Files being uploaded' }).getByRole('listitem')
    await expect(chip.getByRole('alert')).toBeVisible()
    await expect(chip.locator('img')).toHaveJSProperty('naturalWidth', 8)
    await page.unroute(refused)
    await chip.getByRole('button', { name: 'Try uploading red.png again' }).click()
    await expect(talk.box).toHaveValue(/^\[red\.png\]\(\/user_uploads\//)
    await expect(chip).toHaveCount(0)

    await talk.box.fill('Which red?')
    const more = page.getByRole('button', { name: 'Add a poll, to-do list or snippet' })
    await more.click()
    await page.getByRole('menuitem', { name: 'Saved snippets' }).click()
    await page.getByRole('button', { name: 'New snippet' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Red')
    await expect(page.getByLabel('Text', { exact: true })).toHaveValue('Which red?')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByRole('button', { name: 'Edit Red' })).toBeVisible()
    await page.getByRole('button', { name: 'Delete Red' }).click()
    await page.getByRole('button', { name: 'Undo' }).click()
    await talk.box.fill('')
    await more.click()
    await page.getByRole('menuitem', { name: 'Saved snippets' }).click()
    await page.getByRole('button', { name: /^Red/ }).click()
    await expect(talk.box).toHaveValue('Which red?')

    await more.click()
    await page.getByRole('menuitem', { name: 'Poll' }).click()
    const dialog = page.getByRole('dialog', { name: 'Poll' })
    await expect(dialog.getByLabel('Question')).toHaveValue('Which red?')
    await dialog.getByLabel('Option 1').fill('Brick')
    await dialog.getByLabel('Option 1').press('Enter')
    await page.keyboard.type('Wine')
    // At an empty line Enter is enough.
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await expect(talk.box).toHaveValue('/poll Which red?\nBrick\nWine')
    await expect(talk.box).toBeFocused()
    await talk.box.press('Control+Enter')
    await expect(talk.message('Which red?').getByText('Wine')).toBeVisible()
})

test('a voice message is recorded, and played by whoever it is for; a group is made of chips', async ({
    newcomer,
    playwright,
    dev,
}) => {
    const [vera, wim] = [await newcomer('Vera Speaks'), await newcomer(unique('Wim'))]
    // A microphone is a matter of the browser, not of a context.
    const browser = await playwright.chromium.launch({
        executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu', '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
    })
    try {
        const state = await vera.context.storageState()
        const context = await browser.newContext({ baseURL: dev.url, storageState: state })
        const page = await context.newPage()
        const talk = new TalkPage(page)
        await page.goto('/#inbox')
        await page.getByRole('button', { name: 'New direct message' }).click()
        const people = page.getByRole('dialog').getByRole('combobox', { name: 'Names of people' })
        await people.fill('Wim-')
        await people.press('Enter')
        await people.fill('Kofi Mensah')
        await people.press('Enter')
        await expect(page.getByRole('dialog').getByRole('button', { name: 'Remove Kofi Mensah' })).toBeVisible()
        await page.getByRole('dialog').getByRole('button', { name: 'Start conversation', exact: true }).click()
        await expect(page).toHaveURL(/narrow\/dm\/\d+,\d+/)

        await page.getByRole('button', { name: 'Voice message' }).click()
        await expect(page.getByText('Recording', { exact: true })).toBeVisible()
        await expect(page.getByText(/^0:(0[1-9]|[1-5]\d)$/)).toBeVisible()
        // Esc is pressed by habit: what was said is not gone with it.
        await page.keyboard.press('Escape')
        const question = page.getByRole('dialog', { name: 'Discard the recording?' })
        await expect(question).toBeVisible()
        await page.keyboard.press('Escape')
        await expect(question).toBeHidden()
        await expect(page.getByText('Recording', { exact: true })).toBeVisible()
        await page.getByRole('button', { name: 'Use recording' }).click()
        await expect(talk.box).toHaveValue(/^!\[voice-[\d-]+\.\w+\]\(\/user_uploads\//)
        await talk.box.press('Control+Enter')

        await wim.go('#narrow/is/dm')
        const player = wim.page.locator('article[data-message] audio').last()
        await expect(player).toBeVisible()
        await expect
            .poll(() => player.evaluate((each: HTMLAudioElement) => [each.readyState > 0, each.error?.code ?? 0]))
            .toEqual([true, 0])
    } finally {
        await browser.close()
    }
})
