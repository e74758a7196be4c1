/** A new organization: its owner is greeted with three steps, and each leads to where it is done. */
import { expect, test, unique } from './people'
import { runCommand } from './server'

const PICTURE = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGPYEqCPFTEMLQkAHspMwdhob2wAAAAASUVORK5CYII=',
    'base64',
)

test('the owner of a new organization takes the three first steps', async ({ page, dev }) => {
    const subdomain = unique('new')
    const [email, password] = ['olga@example.com', 'violet anchors drift slowly']
    await runCommand(dev, ['realm', 'create', 'Fresh & Co', '--subdomain', subdomain])
    await runCommand(dev, ['user', 'create', email, '--name', 'Olga Owner', '--role', 'owner', '--realm', subdomain], {
        TERTULIA_USER_PASSWORD: password,
    })
    const home = new URL(dev.url)
    home.hostname = `${subdomain}.localhost`
    await page.goto(home.href)
    await expect(page.getByRole('heading', { name: 'Sign in to Fresh & Co' })).toBeVisible()
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    const welcome = page.getByRole('region', { name: 'Welcome to Fresh & Co' })
    const step = (name: string) => welcome.getByRole('listitem').filter({ hasText: name })
    const isDone = (name: string) => step(name).getByLabel('Done')
    await expect(welcome.getByRole('listitem')).toHaveCount(3)
    await expect(isDone('Create a channel')).toHaveCount(0)
    await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'general' }).click()
    await expect(page.getByRole('article').filter({ hasText: 'Welcome! This is a topic' })).toBeVisible()
    await page.getByRole('link', { name: 'Inbox' }).click()

    await step('Create a channel').getByRole('link').click()
    await page.getByLabel('Name', { exact: true }).fill('harbour')
    await page.getByRole('button', { name: 'Create channel' }).click()
    await expect(page).toHaveURL(/#narrow\/channel\/\d+/)
    await page.getByRole('link', { name: 'Inbox' }).click()
    await expect(isDone('Create a channel')).toBeVisible()

    await step('Add a profile picture').getByRole('link').click()
    await page.getByLabel('Choose a picture').setInputFiles({ name: 'me.png', mimeType: 'image/png', buffer: PICTURE })
    await expect(page.getByRole('main').locator('img')).toHaveAttribute('src', /v=2/)
    await page.getByRole('link', { name: 'Inbox' }).click()
    await expect(isDone('Add a profile picture')).toBeVisible()

    await step('Invite your team').getByRole('link').click()
    await expect(page.getByRole('heading', { name: 'Invite people' })).toBeVisible()
    await page.getByRole('link', { name: 'Inbox' }).click()
    await welcome.getByRole('button', { name: 'Close' }).click()
    await expect(welcome).toHaveCount(0)
    await page.reload()
    await expect(page.getByRole('heading', { name: 'Inbox', exact: true })).toBeVisible()
    await expect(welcome).toHaveCount(0)
})
