/** What somebody changes, and what others see of it without loading anything again. */
import { type Caller, callerOf, expect, makeChannel, ownerOf, test, unique } from './people'
import { TalkPage } from './talk-page'

test('an owner makes a channel, adds people and changes who may write; they see it at once', async ({ newcomer }) => {
    const [olga, tom] = [await newcomer('Olga Owner', { role: 100 }), await newcomer('Tom Member')]
    const name = unique('garden')
    const { page } = olga
    const places = tom.page.getByRole('navigation', { name: 'Places', exact: true })
    await tom.go('#inbox')
    await expect(places.getByText('You’re not in any channels yet')).toBeVisible()

    await olga.go('#channels')
    await page.getByRole('link', { name: 'New channel' }).click()
    await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Description').fill('Tomatoes')
    await page.getByRole('button', { name: 'Create channel' }).click()
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()

    const { streams } = await olga.call<{ streams: { stream_id: number; name: string }[] }>('GET', 'streams')
    const id = streams.find((channel) => channel.name === name)?.stream_id ?? 0
    await olga.go(`#channels/${id}`)
    await page.getByRole('combobox', { name: 'Add people' }).fill('Tom Member')
    await page.getByRole('option').filter({ hasText: tom.user.email }).click()
    await page.getByRole('button', { name: 'Add' }).click()
    await expect(page.getByRole('list', { name: 'People in the channel' }).getByText('Tom Member')).toBeVisible()
    await places.getByRole('link', { name }).click()
    const his = new TalkPage(tom.page)
    await expect(his.box).toBeVisible()

    await page.getByLabel('Description').fill('Half a thou')
    const permission = page.getByRole('region', { name: 'Permissions' }).getByLabel('Send messages')
    await permission.selectOption('Administrators')
    await expect(page.getByRole('status').filter({ hasText: 'Saved.' })).toBeVisible()
    await expect(tom.page.getByText('You can read here, but not write.')).toBeVisible()
    await permission.selectOption('Everyone')
    await expect(his.box).toBeVisible()
    await expect(page.getByLabel('Description'), 'what is half typed stays').toHaveValue('Half a thou')
})

test('somebody changes their name and how it looks', async ({ newcomer, dev }) => {
    const [nils, eva] = [await newcomer('Nils Before'), await newcomer('Eva Watches')]
    const id = await makeChannel(dev, unique('names'), [nils, eva])
    await nils.send(id, 'hello', 'It is me')
    await eva.go(`#narrow/channel/${id}/topic/hello`)
    const hers = new TalkPage(eva.page)
    await expect(hers.message('It is me').getByRole('button', { name: 'Nils Before' })).toBeVisible()

    const { page } = nils
    const after = unique('Nils')
    await nils.go('#settings/profile')
    await page.getByLabel('Your name').fill(after)
    const saving = page.getByRole('region', { name: 'Name', exact: true }).getByRole('button', { name: 'Save' })
    await saving.press('Enter')
    await expect(saving).toHaveCount(0)
    await expect(page.getByLabel('Your name')).toBeFocused()
    await expect(hers.message('It is me').getByRole('button', { name: after })).toBeVisible()

    await page.getByRole('main').getByRole('link', { name: 'Appearance' }).click()
    await page.getByLabel('Theme', { exact: true }).selectOption('Dark theme')
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
    const size = () => page.locator('body').evaluate((body) => Number.parseFloat(getComputedStyle(body).fontSize))
    const before = await size()
    await page.getByLabel('Text size').selectOption('20 px')
    await expect.poll(size).toBeCloseTo(before * 1.25, 1)
    await page.getByLabel('Density').selectOption('Compact')
    await page.getByRole('switch', { name: 'Use the full width for messages' }).click()
    const token = (name: string) =>
        page.locator('html').evaluate((root, wanted) => getComputedStyle(root).getPropertyValue(wanted), name)
    await expect.poll(() => token('--width-text')).toBe('9999px')
    expect(Number(await token('--leading-talk'))).toBeLessThan(1.4)
    await expect(page.getByRole('link', { name: 'Your profile and status' })).toBeVisible()
    await page.getByLabel('Language', { exact: true }).selectOption('Español')
    await expect(page.getByRole('heading', { level: 1, name: 'Ajustes' })).toBeVisible()
    await page.reload()
    await expect(page.getByRole('heading', { level: 1, name: 'Ajustes' })).toBeVisible()
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
})

test('an owner makes a link for newcomers, and a group', async ({ newcomer }) => {
    const olga = await newcomer('Olga Invites', { role: 100 })
    const { page } = olga
    await olga.go('#organization/invitations')
    await page.getByRole('button', { name: 'Create a link' }).click()
    const made = page.getByRole('status').filter({ hasText: 'Anyone with this link can join' })
    const link = await made.locator('code').innerText()
    expect(link).toContain('/join/')
    const row = page
        .getByRole('region', { name: 'Pending invitations' })
        .getByRole('listitem')
        .filter({ hasText: link })
    await row.getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await expect(row).toHaveCount(0)

    await page.getByRole('main').getByRole('link', { name: 'Groups' }).click()
    const form = page.getByRole('region', { name: 'New group' })
    const name = unique('bakers')
    await form.getByLabel('Name', { exact: true }).fill(name)
    await form.getByRole('combobox', { name: 'People', exact: true }).fill('Kofi Mensah')
    await form.getByRole('combobox', { name: 'People', exact: true }).press('Enter')
    await form.getByRole('button', { name: 'Create group' }).click()
    await expect(page.getByRole('region', { name: 'Groups' }).getByText(`@${name}`)).toBeVisible()
    const { user_groups } = await olga.call<{ user_groups: { name: string; members: number[] }[] }>(
        'GET',
        'user_groups',
    )
    const kofi = callerOf(olga.dev, 'kofi').user.user_id
    expect(user_groups.find((group) => group.name === name)?.members).toContain(kofi)
})

test('everything is marked as read; a draft and a scheduled message are taken back', async ({ newcomer, dev }) => {
    const rosa = await newcomer('Rosa Reads')
    const kofi = callerOf(dev, 'kofi')
    const id = await makeChannel(dev, unique('reading'), [rosa, kofi])
    const { page } = rosa
    const talk = new TalkPage(page)
    await kofi.send(id, 'first', 'One')
    await kofi.send(id, 'second', 'Two')
    await rosa.go('#inbox')
    await expect(page.getByRole('main').getByRole('link', { name: 'second' })).toBeVisible()
    await page.getByRole('button', { name: 'Mark all as read' }).click()
    await expect(page.getByRole('heading', { name: 'You’re all caught up' })).toBeVisible()

    await rosa.go(`#narrow/channel/${id}/topic/first`)
    await talk.sees('One')
    await talk.box.fill('Half a thought')
    await rosa.go('#drafts')
    const draft = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Half a thought' })
    await draft.getByRole('button', { name: 'Delete draft' }).click()
    await expect(page.getByRole('heading', { name: 'No drafts' })).toBeVisible()
    await page.getByRole('button', { name: 'Undo' }).click()
    await draft.getByRole('button', { name: 'Keep writing' }).click()
    await expect(talk.box).toHaveValue('Half a thought')

    await page.getByRole('button', { name: 'Send later' }).click()
    await page.getByRole('button', { name: /In an hour/ }).click()
    await expect(talk.box).toHaveValue('')
    await rosa.go('#scheduled')
    const later = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Half a thought' })
    await later.getByRole('button', { name: 'Unschedule and edit' }).click()
    await expect(talk.box).toHaveValue('Half a thought')
    const { scheduled_messages } = await rosa.call<{ scheduled_messages: object[] }>('GET', 'scheduled_messages')
    expect(scheduled_messages).toEqual([])
    expect(await rosa.texts(id, 'first')).toEqual(['One'])
})

test('a status, a field of the profile and another password; then the account is deactivated', async ({
    newcomer,
    dev,
}) => {
    const [olga, nils] = [await newcomer('Olga Fields', { role: 100 }), await newcomer('Nils Leaves')]
    const id = await makeChannel(dev, unique('status'), [olga, nils])
    await nils.send(id, 'hello', 'It is me')
    const field = unique('Team')
    await olga.go('#organization/fields')
    const form = olga.page.getByRole('region', { name: 'New field' })
    await form.getByLabel('Type').selectOption('List of options')
    await form.getByLabel('Name', { exact: true }).fill(field)
    await form.getByLabel('Options').fill('Garden\nKitchen')
    await form.getByRole('button', { name: 'Create field' }).click()
    await expect(olga.page.getByRole('region', { name: 'Profile fields' }).getByText(field)).toBeVisible()

    const { page } = nils
    await nils.go('#settings/profile')
    await page.getByLabel(field).selectOption('Kitchen')
    await page.getByRole('button', { name: 'In a meeting' }).click()
    await expect(page.getByRole('button', { name: 'Emoji: calendar. Choose another' })).toBeVisible()
    await olga.go(`#narrow/channel/${id}/topic/hello`)
    const said = new TalkPage(olga.page).message('It is me')
    await expect(said.getByRole('img', { name: 'In a meeting' })).toBeVisible()
    await said.getByRole('button', { name: 'Nils Leaves' }).first().click()
    const card = olga.page.getByRole('dialog', { name: 'Nils Leaves' })
    await expect(card.getByText('Kitchen')).toBeVisible()
    await expect(card.getByText('In a meeting')).toBeVisible()

    await page.getByRole('main').getByRole('link', { name: 'Notifications' }).click()
    for (const word of ['apple', 'pear']) {
        await page.getByLabel('Word', { exact: true }).fill(word)
        await page.getByLabel('Word', { exact: true }).press('Enter')
        await expect(page.getByRole('button', { name: `Remove ${word}` })).toBeVisible()
    }
    await page.getByRole('button', { name: 'Remove apple' }).press('Enter')
    await expect(page.getByRole('button', { name: 'Remove pear' })).toBeFocused()

    await page.getByRole('main').getByRole('link', { name: 'Account' }).click()
    const password = page.getByRole('region', { name: 'Password' })
    await password.getByLabel('Current password').fill('something else')
    await password.getByLabel('New password', { exact: true }).fill('amber ladders sing at noon')
    await password.getByRole('button', { name: 'Change password' }).click()
    await expect(password.getByText('That’s not your password.')).toBeVisible()
    await expect(password.getByLabel('Current password')).toBeFocused()
    await password.getByLabel('Current password').fill(nils.user.password ?? '')
    await password.getByRole('button', { name: 'Change password' }).click()
    await expect(page.getByRole('status').filter({ hasText: 'Password changed' })).toBeVisible()

    await page.getByRole('button', { name: 'Deactivate my account' }).click()
    const sure = page.getByRole('dialog', { name: 'Deactivate your account?' })
    await expect(sure.getByRole('button', { name: 'Deactivate my account' })).toBeDisabled()
    await sure.getByRole('textbox').fill(nils.user.email)
    await sure.getByRole('button', { name: 'Deactivate my account' }).click()
    const again = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await again.getByLabel('Current password').fill('something else')
    await again.getByRole('button', { name: 'Continue' }).click()
    await expect(again.getByText('That’s not your password.')).toBeVisible()
    await again.getByLabel('Current password').fill('amber ladders sing at noon')
    await again.getByRole('button', { name: 'Continue' }).click()
    await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
    await expect(card.getByText('Deactivated')).toBeVisible()
})

test('folders are made and moved by the keyboard; a channel in one is for certain people only', async ({
    newcomer,
    dev,
}) => {
    const [olga, tom] = [await newcomer('Olga Sorts', { role: 100 }), await newcomer('Tom Reads')]
    const channel = unique('shed')
    const id = await makeChannel(dev, channel, [olga, tom])
    const [first, second] = [unique('Alpha'), unique('Beta')]
    const { page } = olga
    await olga.go('#organization/channels')
    const form = page.getByRole('region', { name: 'New folder' })
    for (const name of [first, second]) {
        await form.getByLabel('Name', { exact: true }).fill(name)
        await form.getByLabel('Name', { exact: true }).press('Enter')
        await expect(page.getByRole('region', { name: 'Folders' }).getByText(name)).toBeVisible()
    }
    const names = page.getByRole('region', { name: 'Folders' }).getByRole('listitem')
    const rows = async () => (await names.allInnerTexts()).map((text) => text.split('\n')[0])
    await page.getByRole('button', { name: `Move ${second} up` }).press('Enter')
    await expect.poll(async () => (await rows()).indexOf(second) < (await rows()).indexOf(first)).toBe(true)
    await expect(
        page.getByRole('button', { name: new RegExp(`^Move ${second} `) }).and(page.locator(':focus')),
    ).toHaveCount(1)

    await olga.go(`#channels/${id}`)
    await page.getByLabel('Folder').selectOption(second)
    await tom.go(`#narrow/channel/${id}`)
    const places = tom.page.getByRole('navigation', { name: 'Places', exact: true })
    await expect(places.getByRole('button', { name: second })).toBeVisible()

    const rights = page.getByRole('region', { name: 'Permissions' })
    const sending = rights.getByLabel('Send messages', { exact: true })
    await sending.selectOption('Specific people and groups')
    const members = await groupOf(olga, 'role:members')
    const changes = { can_send_message_group: { new: members }, description: 'Changed meanwhile' }
    await olga.call('PATCH', `streams/${id}`, changes)
    await expect(page.getByLabel('Description')).toHaveValue('Changed meanwhile')
    await rights.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByText('Someone else changed this in the meantime.')).toBeVisible()
    await rights.getByRole('button', { name: 'Cancel' }).click()
    await sending.selectOption('Specific people and groups')
    await page.getByRole('button', { name: 'Remove Members' }).click()
    await page.getByRole('combobox', { name: 'Send messages: people and groups' }).fill('Olga Sorts')
    await page.getByRole('option').filter({ hasText: olga.user.email }).click()
    await rights.getByRole('button', { name: 'Save' }).click()
    await expect(sending).toHaveAccessibleDescription('Olga Sorts')
    await expect(tom.page.getByText('You can read here, but not write.')).toBeVisible()
})

test('a channel takes in mail once somebody switches it on; the address is copied, renewed and ended', async ({
    newcomer,
    dev,
}) => {
    const nora = await newcomer('Nora Mails', { permissions: ['clipboard-read', 'clipboard-write'] })
    const id = await makeChannel(dev, unique('alerts'), [nora])
    const { page } = nora
    const kept = async () => (await nora.call<{ email: string }>('GET', `streams/${id}/email_address`)).email
    await nora.go(`#channels/${id}`)
    const mail = page.getByRole('region', { name: 'Email' })
    const taken = mail.getByRole('switch', { name: 'Accept email' })
    await expect(taken).not.toBeChecked()
    await taken.click()
    const address = mail.getByText(/^reply\+[a-z2-7]{26}@mail\.example\.com$/)
    const first = await address.innerText()
    expect(first).toBe(await kept())
    await mail.getByRole('button', { name: 'Copy' }).click()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(first)

    const question = page.getByRole('dialog')
    await mail.getByRole('button', { name: 'Create new address' }).click()
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect(await kept(), 'nothing happens before the answer').toBe(first)
    await mail.getByRole('button', { name: 'Create new address' }).click()
    await question.getByRole('button', { name: 'Create new address' }).click()
    await expect(mail.getByText(first)).toHaveCount(0)
    const second = await address.innerText()
    expect([second === first, second]).toEqual([false, await kept()])

    await taken.click()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await expect(taken, 'it goes back').toBeChecked()
    await taken.click()
    await question.getByRole('button', { name: 'Delete address' }).click()
    await expect(address).toHaveCount(0)
    await expect(taken).not.toBeChecked()
    expect(await kept()).toBe('')

    const rights = { can_send_message_group: { new: await groupOf(nora, 'role:nobody') } }
    await ownerOf(dev).call('PATCH', `streams/${id}`, rights)
    await page.reload()
    await expect(page.getByRole('region', { name: 'Permissions' })).toBeVisible()
    await expect(mail).toHaveCount(0)
})

async function groupOf(caller: Caller, name: string): Promise<number> {
    const { user_groups } = await caller.call<{ user_groups: { id: number; name: string }[] }>('GET', 'user_groups')
    return user_groups.find((group) => group.name === name)?.id ?? 0
}
