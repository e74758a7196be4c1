/** The inbox by lines: what they say, what comes first, and what single keys do to them. */
import { callerOf, expect, makeChannel, test, unique } from './people'

test('a line says who wrote what and when, and a mention comes first and opens where it is', async ({
    newcomer,
    dev,
}) => {
    const tessa = await newcomer('Tessa Triage')
    const { page } = tessa
    const kofi = callerOf(dev, 'kofi')
    const name = unique('harbour')
    const id = await makeChannel(dev, name, [tessa, kofi])
    await kofi.send(id, 'later', `@**Tessa Triage|${tessa.user.user_id}** the *tide* tables, please`)
    for (let number = 1; number <= 40; number += 1) await kofi.send(id, 'later', `Line ${number}`)
    await kofi.send(id, 'boats', 'The **red** one is painted :tada:')
    await tessa.go('#inbox')
    const lines = page.getByRole('main').locator('li[data-talk]')
    await expect(lines).toHaveCount(2)
    await expect(lines.nth(0)).toContainText(name)
    await expect(lines.nth(0)).toContainText('the tide tables, please')
    await expect(lines.nth(0)).toContainText('41')
    await expect(lines.nth(1)).toContainText(/Kofi.*The red one is painted/)
    await expect(lines.nth(1).locator('time')).toHaveText('now')

    await kofi.send(id, 'boats', 'And the blue one')
    await expect(lines.nth(1)).toContainText('And the blue one')
    await lines.nth(0).getByRole('link').click()
    await expect(page.getByText('the tide tables, please')).toBeInViewport()
})

test('single keys mark a line as read, follow, mute and put it off, each with a way back', async ({
    newcomer,
    dev,
}) => {
    const tessa = await newcomer('Tessa Keys')
    const { page } = tessa
    const kofi = callerOf(dev, 'kofi')
    const id = await makeChannel(dev, unique('yard'), [tessa, kofi])
    for (const topic of ['one', 'two', 'three']) await kofi.send(id, topic, `About ${topic}`)
    await tessa.go('#inbox')
    const lines = page.getByRole('main').locator('li[data-talk]')
    const line = (topic: string) => lines.filter({ hasText: `About ${topic}` })
    const undo = page.getByRole('button', { name: 'Undo' })
    await expect(line('one')).toHaveCount(1)

    await page.keyboard.press('j')
    await expect(line('three').getByRole('link')).toBeFocused()
    await page.keyboard.press('r')
    await expect(line('three')).toHaveCount(0)
    await expect(line('two').getByRole('link'), 'the focus goes on').toBeFocused()
    await undo.click()
    await expect(line('three')).toHaveCount(1)

    await line('two').getByRole('link').focus()
    await page.keyboard.press('m')
    await expect(line('two')).toHaveCount(0)
    await expect(page.getByText('“two” is muted.')).toBeVisible()
    await undo.click()
    await expect(line('two')).toHaveCount(1)

    await line('one').getByRole('link').focus()
    await page.keyboard.press('f')
    await expect(page.getByText('You’re following “one”.')).toBeVisible()

    await page.keyboard.press('s')
    await page.getByRole('button', { name: 'In an hour' }).click()
    await expect(line('one')).toHaveCount(0)
    const { reminders } = await tessa.call<{ reminders: unknown[] }>('GET', 'reminders')
    expect(reminders).toHaveLength(1)
    await undo.click()
    await expect(line('one')).toHaveCount(1)
    await expect
        .poll(async () => (await tessa.call<{ reminders: unknown[] }>('GET', 'reminders')).reminders)
        .toEqual([])

    await page.getByRole('button', { name: 'Mark all as read' }).click()
    await expect(page.getByText('You’re all caught up')).toBeVisible()
    await undo.click()
    await expect(lines).toHaveCount(3)
})

test('the palette finds a topic by words of both its names, completes a search, and opens any settings', async ({
    newcomer,
    dev,
}) => {
    const tessa = await newcomer('Tessa Finds')
    const { page } = tessa
    const kofi = callerOf(dev, 'kofi')
    const [name, topic] = [unique('boatyard'), unique('varnish')]
    const id = await makeChannel(dev, name, [tessa, kofi])
    await kofi.send(id, topic, 'Two coats')
    await kofi.send(id, unique('varnish'), 'Three coats')
    await tessa.go(`#narrow/channel/${id}/topic/${topic}`)
    await expect(page.getByText('Two coats')).toBeVisible()
    await tessa.go('#inbox')
    const field = page.getByRole('combobox', { name: /Find a place/ })
    const first = page.getByRole('option').first()

    await page.keyboard.press('Control+k')
    await field.fill('varn boaty')
    await expect(first, 'where one was comes first').toContainText(topic)
    await first.click()
    await expect(page.getByText('Two coats')).toBeVisible()

    await page.keyboard.press('Control+k')
    await field.fill('coats send')
    await page.getByRole('option', { name: 'coats sender:' }).click()
    await field.press('End')
    await page.keyboard.type('kof')
    await page.getByRole('option', { name: /sender:"Kofi/ }).click()
    await expect(field).toHaveValue(/^coats sender:"Kofi Mensah" $/)
    await page.getByRole('option', { name: /Search messages for/ }).click()
    await expect(page.getByText('Three coats')).toBeVisible()

    await page.keyboard.press('Control+k')
    await field.fill('settings app')
    await first.click()
    await expect(page).toHaveURL(/#settings\/appearance$/)
})
