/** A new organization: its owner begins it by a link, or is greeted with first steps, each of which leads to where it is done. */
import { complaints } from './complaints'
import { expect, test, unique } from './people'
import { PICTURE } from './pictures'
import { runCommand } from './server'

test('the owner of a new organization takes the first steps', async ({ page, dev }) => {
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
    await expect(welcome.getByRole('listitem')).toHaveCount(4)
    await expect(isDone('Create a channel')).toHaveCount(0)
    const hello = step('Say hello').getByRole('link')
    await expect(hello, 'once the greeting is found').toHaveAttribute('href', /topic\/welcome/)
    await hello.click()
    await expect(page).toHaveURL(/topic\/welcome/)
    const box = page.getByRole('combobox', { name: 'Write a message' })
    await box.fill('Hello, me')
    await page.getByRole('button', { name: 'Ctrl+Enter sends' }).click()
    await expect(page.getByRole('status').filter({ hasText: 'Enter sends now' })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Ctrl+Enter sends' })).toHaveCount(0)
    await box.press('Enter')
    await expect(page.locator('article[data-message]').filter({ hasText: 'Hello, me' })).toBeVisible()
    await page.getByRole('link', { name: 'Inbox' }).click()
    await expect(isDone('Say hello')).toBeVisible()
    await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'general' }).click()
    await expect(page.getByRole('article').filter({ hasText: 'Welcome! You’re in a topic' })).toBeVisible()
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

test('an owner begins an organization by a link, once, and is greeted in a topic', async ({ page, dev }) => {
    const subdomain = unique('begun')
    const link = await runCommand(dev, ['realm', 'create', 'Not yet named', '--subdomain', subdomain, '--link'])
    const home = new URL(dev.url)
    home.hostname = `${subdomain}.localhost`
    home.hash = new URL(link.trim()).hash
    await page.setViewportSize({ width: 360, height: 800 })
    await page.goto(home.href)
    await expect(page.getByLabel('Organization name')).toHaveValue('Not yet named')
    expect(await complaints(page, null)).toEqual([])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
    await page.setViewportSize({ width: 1200, height: 800 })
    await page.getByLabel('Organization name').fill('The Harbour')
    await page.getByRole('button', { name: 'Create organization' }).click()
    await expect(page.getByRole('alert')).toContainText('Fill in all fields')
    await page.getByLabel('Your name').fill('Olga Owner')
    await page.getByLabel('Email').fill('olga@example.com')
    await page.getByLabel('Password', { exact: true }).fill('violet anchors drift slowly')
    await page.getByLabel('First channels').fill('general\nboats')
    await page.getByRole('button', { name: 'Create organization' }).click()
    await expect(page.getByRole('article').filter({ hasText: 'Welcome! You’re in a topic' })).toBeVisible()
    await expect(page).toHaveURL(/topic\/welcome/)
    const places = page.getByRole('navigation', { name: 'Places' })
    await expect(places.getByRole('link', { name: 'The Harbour' })).toBeVisible()
    await expect(places.getByRole('link', { name: 'boats' })).toBeVisible()

    await page.context().clearCookies()
    await page.goto('about:blank')
    await page.goto(home.href)
    await expect(page.getByRole('alert')).toContainText('not good')
})
