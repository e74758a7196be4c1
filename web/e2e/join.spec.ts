/** Coming in: by an invitation, by a link for many, and with a forgotten password. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, ownerOf, test, unique } from './people'
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

test('an invited person makes an account and is in', async ({ page, dev }) => {
    const address = `${unique('nora')}@example.com`
    await ownerOf(dev).call('POST', 'invites', {
        invitee_emails: address,
        stream_ids: [],
        include_realm_default_subscriptions: true,
    })
    const link = await linkFor(dev, address)
    await page.goto(link)
    await expect(page).toHaveURL(/#join\//)
    await expect(page.getByLabel('Email')).toHaveValue(address)
    await page.getByLabel('Your name').fill('Nora New')
    await page.getByLabel('Password', { exact: true }).fill('12345678')
    await page.getByRole('button', { name: 'Create my account' }).click()
    await expect(page.getByRole('alert')).toContainText('soon be guessed')
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
    await page.getByRole('button', { name: 'Create my account' }).click()
    await expect(page.getByRole('heading', { name: /^Join/ })).toHaveCount(0)
    await expect(page.locator('main, nav').first()).toBeVisible()
    const me = await page.evaluate(async () => (await fetch('/api/v1/users/me')).json())
    expect(me).toMatchObject({ delivery_email: address, full_name: 'Nora New' })
    await page.context().clearCookies()
    await page.goto('about:blank')
    await page.goto(link)
    await expect(page.getByRole('alert')).toContainText('not good')
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
    await page.getByRole('link', { name: 'Forgotten your password?' }).click()
    await page.getByLabel('Email').fill('nobody@example.com')
    await page.getByRole('button', { name: 'Send me a link' }).click()
    await expect(page.getByRole('status')).toContainText('nobody@example.com')
    await page.getByRole('link', { name: /sign in/ }).click()
    await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
})
