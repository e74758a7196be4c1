/** Coming in: by an invitation, by a link for many, and with a forgotten password. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { channelOf, expect, ownerOf, test, unique } from './people'
import type { Dev } from './server'

const PASSWORD = 'violet anchors drift slowly'

/** The link in the newest mail to somebody. */
async function linkFor(dev: Dev, address: string): Promise<string> {
    const folder = join(dev.folder, 'data', 'mail')
    let link = ''
    await expect(async () => {
        const mails = readdirSync(folder).filter((name) => name.endsWith(`${address}.eml`))
        expect(mails).not.toEqual([])
        link = /http:\/\/\S+/.exec(readFileSync(join(folder, mails.at(-1) ?? ''), 'utf8'))?.[0] ?? ''
    }).toPass()
    return link
}

test('an invited person makes an account, lands in a conversation, and finds first steps', async ({ page, dev }) => {
    // Chromium without a head refuses notifications; people have not been asked yet.
    await page.addInitScript(() => Object.defineProperty(Notification, 'permission', { get: () => 'default' }))
    const address = `${unique('nora')}@example.com`
    // With one topic alone, that is where newcomers land (beginning.spec.ts).
    for (const topic of ['one', 'other']) await ownerOf(dev).send(channelOf(dev, 'general'), unique(topic), 'Hello')
    await ownerOf(dev).call('POST', 'invites', {
        invitee_emails: address,
        stream_ids: [channelOf(dev, 'general')],
        include_realm_default_subscriptions: true,
    })
    const link = await linkFor(dev, address)
    await page.goto(link)
    await expect(page).toHaveURL(/#join\//)
    await expect(page.getByLabel('Email')).toHaveValue(address)
    await page.getByLabel('Your name').fill('Nora New')
    await page.getByLabel('Password', { exact: true }).fill('12345678')
    await page.getByRole('button', { name: 'Create account' }).click()
    await expect(page.getByRole('alert')).toContainText('too easy to guess')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Create account' }).click()
    await expect(page.getByRole('heading', { name: /^Join/ })).toHaveCount(0)
    await expect(page).toHaveURL(/#narrow\/channel\/\d+/)
    await expect(page.getByRole('combobox', { name: 'Write a message' })).toBeVisible()
    const me = (await page.evaluate(async () => (await fetch('/api/v1/users/me')).json())) as { user_id: number }
    expect(me).toMatchObject({ delivery_email: address, full_name: 'Nora New' })

    const box = page.getByRole('combobox', { name: 'Write a message' })
    const steps = page.getByRole('region', { name: /^Welcome to/ }).getByRole('listitem')
    const isDone = (name: string) => steps.filter({ hasText: name }).getByLabel('Done')
    await page.getByRole('link', { name: 'Inbox' }).click()
    await expect(steps).toHaveCount(4)
    await expect(isDone('Say hello')).toHaveCount(0)
    await steps.filter({ hasText: 'Say hello' }).getByRole('link').click()
    await page.getByRole('combobox', { name: 'Topic' }).fill(unique('hello'))
    await box.fill('Hello from Nora')
    await box.press('Control+Enter')
    await expect(page.locator('article[data-message]').filter({ hasText: 'Hello from Nora' })).toBeVisible()
    await page.getByRole('link', { name: 'Inbox' }).click()
    await expect(isDone('Say hello')).toBeVisible()

    const question = page.getByRole('status').filter({ hasText: 'Someone just messaged you' })
    await expect(question).toHaveCount(0)
    await ownerOf(dev).call('POST', 'messages', { type: 'direct', to: [me.user_id], content: 'Good to have you' })
    await question.getByRole('button', { name: 'Not now' }).click()
    await expect(question).toHaveCount(0)

    await page.context().clearCookies()
    await page.goto('about:blank')
    await page.goto(link)
    await expect(page.getByRole('alert')).toContainText('isn’t valid')
})

test('a newcomer stays in the language in which they were met at the door', async ({ browser, dev }) => {
    const address = `${unique('lola')}@example.com`
    await ownerOf(dev).call('POST', 'invites', { invitee_emails: address, stream_ids: [channelOf(dev, 'general')] })
    const context = await browser.newContext({ locale: 'es-ES' })
    const page = await context.newPage()
    await page.goto(await linkFor(dev, address))
    await page.getByLabel('Tu nombre').fill('Lola')
    await page.getByLabel('Contraseña', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Crear mi cuenta' }).click()
    await expect(page.getByRole('link', { name: 'Bandeja' })).toBeVisible()
    await context.close()
})

test('whoever comes by a link for many confirms their address first', async ({ page, dev }) => {
    const { invite_link } = await ownerOf(dev).call<{ invite_link: string }>('POST', 'invites/multiuse', {})
    const address = `${unique('otto')}@example.com`
    await page.goto(invite_link)
    await page.getByLabel('Email').fill(address)
    await page.getByRole('button', { name: 'Send me a link' }).click()
    await expect(page.getByRole('status')).toContainText(address)
    await page.goto(await linkFor(dev, address))
    await expect(page.getByLabel('Email')).toHaveValue(address)
})

test('a forgotten password is replaced by a mail, whether or not there is an account', async ({ page, dev }) => {
    await page.goto(dev.url)
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await page.getByLabel('Email').fill('nobody@example.com')
    await page.getByRole('button', { name: 'Send me a link' }).click()
    await expect(page.getByRole('status')).toContainText('nobody@example.com')
    await page.getByRole('link', { name: /Sign in/ }).click()
    await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
})
