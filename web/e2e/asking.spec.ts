/** Nothing that gives rights or cannot be taken back happens without a question, by mouse or by keyboard. */
import type { Caller } from './people'
import { expect, makeChannel, proveIt, test, unique } from './people'

const roleOf = async (caller: Caller, id: number) =>
    (await caller.call<{ user: { role: number } }>('GET', `users/${id}`)).user.role

test('arrow keys give nobody another role; choosing one asks first', async ({ newcomer }) => {
    const name = unique('Tom Role')
    const [olga, tom] = [await newcomer('Olga Roles', { role: 100 }), await newcomer(name)]
    const { page } = olga
    const id = tom.user.user_id
    await olga.go('#organization/members')
    await page.getByRole('main').getByRole('textbox').fill(name)
    const select = page.getByLabel(`Role of ${name}`)
    await select.focus()
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('ArrowUp')
    await expect(page.getByRole('dialog'), 'the keys only opened the list').toHaveCount(0)
    expect(await roleOf(olga, id)).toBe(400)

    await page.reload()
    await page.getByRole('main').getByRole('textbox').fill(name)
    await select.selectOption('Owner')
    const question = page.getByRole('dialog', { name: `Change ${name}’s role to Owner?` })
    await expect(question.getByText('Owners can do everything')).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(question).toHaveCount(0)
    await expect(select.locator('option:checked')).toHaveText('Member')
    expect(await roleOf(olga, id)).toBe(400)

    await select.selectOption('Moderator')
    await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click()
    await proveIt(olga)
    await expect.poll(() => roleOf(olga, id)).toBe(300)
})

test('whoever leaves a private channel is asked; a public one is left at once', async ({ newcomer, dev }) => {
    const tom = await newcomer('Tom Leaves')
    const { page } = tom
    const [open, secret] = [unique('open'), unique('secret')]
    await makeChannel(dev, open, [tom])
    await tom.call('POST', 'users/me/subscriptions', { subscriptions: [{ name: secret }], invite_only: true })
    await tom.go('#channels')
    const row = (name: string) => page.getByRole('main').getByRole('listitem').filter({ hasText: name })
    const mine = async () =>
        (await tom.call<{ subscriptions: { name: string }[] }>('GET', 'users/me/subscriptions')).subscriptions.map(
            (each) => each.name,
        )

    await row(secret).getByRole('button', { name: 'Leave' }).press('Enter')
    const question = page.getByRole('dialog', { name: `Leave #${secret}?` })
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect(await mine()).toContain(secret)
    await row(open).getByRole('button', { name: 'Leave' }).click()
    await expect.poll(mine).not.toContain(open)
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await row(secret).getByRole('button', { name: 'Leave' }).click()
    await question.getByRole('button', { name: 'Leave channel' }).click()
    await expect.poll(mine).not.toContain(secret)
})

test('a private channel is not opened to all by an arrow key', async ({ newcomer }) => {
    const olga = await newcomer('Olga Opens', { role: 100 })
    const { page } = olga
    const name = unique('vault')
    await olga.call('POST', 'users/me/subscriptions', { subscriptions: [{ name }], invite_only: true })
    const found = await olga.call<{ subscriptions: { name: string; stream_id: number }[] }>(
        'GET',
        'users/me/subscriptions',
    )
    const id = found.subscriptions.find((each) => each.name === name)?.stream_id ?? 0
    await olga.go(`#channels/${id}`)
    await page.getByRole('radio', { checked: true }).focus()
    await page.keyboard.press('ArrowUp')
    await expect(page.getByRole('dialog', { name: `Change #${name} to` })).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    const { stream } = await olga.call<{ stream: { invite_only: boolean } }>('GET', `streams/${id}`)
    expect(stream.invite_only).toBe(true)
})

test('whoever makes a bot gives the password once more', async ({ newcomer }) => {
    const olga = await newcomer('Olga Proves', { role: 100 })
    const { page } = olga
    await olga.go('#organization/bots')
    const name = unique('helper')
    await page.getByLabel('Name', { exact: true }).fill(name)
    await page.getByLabel('Username').fill(name)
    await page.getByRole('button', { name: 'Create bot' }).click()
    await proveIt(olga)
    await expect(page.getByRole('listitem').filter({ hasText: name })).toBeVisible()
})
