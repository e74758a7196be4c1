/** What those who run an organization add to it and look up, without a mouse. */
import { readFileSync } from 'node:fs'
import { Keys } from './keyboard-only'
import { expect, makeChannel, test, unique } from './people'
import { PICTURE } from './pictures'

test('an emoji is added with its picture, used, and removed after a question', async ({ newcomer, dev }) => {
    const ada = await newcomer('Ada Emoji', { role: 200 })
    const { page } = ada
    const keys = new Keys(ada)
    const name = unique('square').replaceAll('-', '_')
    const id = await makeChannel(dev, unique('signs'), [ada])
    const message = await ada.send(id, 'signs', 'Look')
    await ada.go('#organization/emoji')
    const fresh = page.getByRole('region', { name: 'New emoji' })
    await keys.write(fresh.getByRole('textbox', { name: 'Name', exact: true }), name)
    const chooser = page.waitForEvent('filechooser')
    await keys.enter(fresh.getByRole('button', { name: 'Choose a picture' }))
    await (await chooser).setFiles({ name: 'square.png', mimeType: 'image/png', buffer: PICTURE })
    await expect(fresh.getByText('square.png')).toBeVisible()
    await keys.enter(fresh.getByRole('button', { name: 'Add' }))
    const remove = page.getByRole('button', { name: `Remove ${name}` })
    await expect(remove).toBeVisible()
    await ada.call('POST', `messages/${message}/reactions`, { emoji_name: name })

    await keys.enter(remove)
    await keys.press('Escape')
    await expect(remove).toBeFocused()
    await keys.press('Enter')
    await keys.agree(`Remove :${name}:?`, 'Remove')
    await expect(remove).toHaveCount(0)
    await expect(page.locator('body'), 'the focus is on the next, or on what says that there is none').not.toBeFocused()
    const { emoji } = await ada.call<{ emoji: Record<string, { name: string; deactivated: boolean }> }>(
        'GET',
        'realm/emoji',
    )
    expect(Object.values(emoji).find((each) => each.name === name)?.deactivated ?? true).toBe(true)
})

test('patterns become links, and are changed and removed', async ({ newcomer, dev }) => {
    const ada = await newcomer('Ada Patterns', { role: 200 })
    const { page } = ada
    const keys = new Keys(ada)
    const id = await makeChannel(dev, unique('tickets'), [ada])
    const word = unique('t').replaceAll('-', '')
    const pattern = `${word}(?P<n>[0-9]+)`
    await ada.go('#organization/linkifiers')
    const fresh = page.getByRole('region', { name: 'New linkifier' })
    await keys.write(fresh.getByRole('textbox', { name: 'Pattern' }), pattern)
    await keys.write(fresh.getByRole('textbox', { name: 'Address' }), 'https://one.example/{n}')
    await keys.press('Enter')
    const edit = page.getByRole('button', { name: `Edit ${pattern}` })
    await expect(edit).toBeVisible()
    const linked = async (number: number) => {
        const message = await ada.send(id, 'links', `See ${word}${number}`)
        return (await ada.call<{ message: { content: string } }>('GET', `messages/${message}`)).message.content
    }
    expect(await linked(7)).toContain('href="https://one.example/7"')

    await keys.enter(edit)
    const all = page.getByRole('region', { name: 'Linkifiers', exact: true })
    await keys.write(all.getByRole('textbox', { name: 'Address' }), 'https://two.example/{n}')
    await keys.press('Enter')
    await expect(edit).toBeFocused()
    expect(await linked(8)).toContain('href="https://two.example/8"')

    await keys.enter(page.getByRole('button', { name: `Remove ${pattern}` }))
    await keys.agree(`Remove the linkifier ${pattern}?`, 'Remove')
    await expect(edit).toHaveCount(0)
    expect(await linked(9)).not.toContain('href')
})

test('the log tells who did what to whom, by action and person, and is taken along as a table', async ({
    newcomer,
}) => {
    const [olga, name] = [await newcomer('Olga Audits', { role: 100 }), unique('Tom Audited')]
    const tom = await newcomer(name)
    const { page } = olga
    const keys = new Keys(olga)
    await olga.call('PATCH', `users/${tom.user.user_id}`, { full_name: `${name} Senior` })
    await olga.go('#organization/audit')
    const entries = page.getByRole('list', { name: 'Entries' }).getByRole('listitem')
    await expect(entries.filter({ hasText: 'Olga Audits' }).first()).toBeVisible()
    await keys.choose(page.getByRole('combobox', { name: 'Action' }), 'Name changed')
    await keys.pick(page.getByRole('combobox', { name: 'To whom' }), `${name} Senior`)
    await expect(entries).toHaveCount(1)
    await expect(entries).toContainText('Olga Audits')
    const downloading = page.waitForEvent('download')
    await keys.enter(page.getByRole('link', { name: 'Download as CSV' }))
    const lines = readFileSync(await (await downloading).path(), 'utf8')
        .trim()
        .split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain('user.changed')

    await keys.write(page.getByRole('combobox', { name: 'To whom' }), '')
    await keys.press('Backspace')
    await keys.pick(page.getByRole('combobox', { name: 'By whom' }), `${name} Senior`)
    await expect(page.getByText('No matching entries.')).toBeVisible()
})
