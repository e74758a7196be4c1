/** Reading without an account: the channels that are open to the web, in the client itself, live, and the way in from there. */
import type { Page } from '@playwright/test'
import { complaints } from './complaints'
import { type Caller, expect, ownerOf, test, unique } from './people'
import { type Dev, startServer } from './server'

test.use({ trace: 'off' })

let dev: Dev
let stop: () => Promise<void>
let owner: Caller
let channel: number
let first: number
const name = unique('open')

test.beforeAll(async () => {
    ;({ dev, stop } = await startServer({ TERTULIA_WEB_PUBLIC_STREAMS_ENABLED: 'true' }))
    owner = ownerOf(dev)
    await owner.call('PATCH', 'realm', { enable_spectator_access: true })
})
test.afterAll(() => stop())

/** The one open channel, made when somebody first needs it: before that nothing is open. */
async function open(): Promise<void> {
    if (channel) return
    await owner.call('POST', 'users/me/subscriptions', {
        subscriptions: [{ name, description: 'What we talk about' }],
        is_web_public: true,
    })
    channel = (await owner.call<{ stream_id: number }>('GET', 'get_stream_id', { stream: name })).stream_id
    first = await owner.send(channel, 'harbour', 'The boats are in, @**all**')
    for (let n = 0; n < 60; n += 1) await owner.send(channel, 'harbour', `Boat number ${n}`)
    await owner.call('POST', `messages/${first}/reactions`, { emoji_name: 'tada' })
    await owner.send(channel, 'lighthouse', 'It is lit')
}

const places = (page: Page) => page.getByRole('navigation', { name: 'Places' })
const takePart = (page: Page) => page.getByRole('button', { name: 'Sign in to join in' })
const said = (page: Page, text: string) => page.getByRole('article').filter({ hasText: text })
const topicLink = (near = '') => `${dev.url}/#narrow/channel/${channel}-${name}/topic/harbour${near}`

async function signIn(page: Page): Promise<void> {
    await page.getByLabel('Email').fill(owner.user.email)
    await page.getByLabel('Password', { exact: true }).fill(owner.user.password!)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

test('where no channel is open, there is nothing but the sign-in page', async ({ page }) => {
    await page.goto(dev.url)
    await expect(page.getByLabel('Email')).toBeVisible()
    await expect(takePart(page)).toHaveCount(0)
    await expect(page.getByText('Browse the public channels')).toHaveCount(0)
})

test('a visitor goes from the list of channels to a topic, and can only read', async ({ page }) => {
    await open()
    const asked: string[] = []
    page.on('request', (request) => asked.push(`${request.method()} ${new URL(request.url()).pathname}`))
    await page.goto(dev.url)
    await expect(page.getByRole('heading', { level: 1, name: /^Welcome to/ })).toBeVisible()
    await expect(page.getByText('What we talk about')).toBeVisible()
    await expect(places(page).getByRole('link', { name: 'general' })).toHaveCount(0)
    await page.getByRole('main').getByRole('link', { name }).click()
    await places(page).getByRole('link', { name: 'lighthouse' }).click()
    const message = said(page, 'It is lit')
    await expect(message).toBeVisible()
    await message.hover()
    await message.click()
    await expect(page.getByRole('toolbar')).toHaveCount(0)
    await expect(message.getByRole('button')).toHaveCount(0)
    await expect(page.getByRole('textbox')).toHaveCount(0)
    await page.keyboard.press('r')
    await page.keyboard.press('x')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await expect(takePart(page)).toBeVisible()
    const api = new Set(asked.filter((each) => each.includes('/api/')))
    expect([...api].sort()).toEqual([
        'GET /api/v1/messages',
        'GET /api/v1/server_settings',
        'GET /api/v1/sessions/current',
        `GET /api/v1/users/me/${channel}/topics`,
        'POST /api/v1/register',
    ])
})

test('what is said meanwhile appears by itself, and what is deleted goes', async ({ page }) => {
    test.slow()
    await open()
    await page.goto(topicLink())
    await expect(said(page, 'Boat number 59')).toBeVisible()
    const id = await owner.send(channel, 'harbour', 'One more boat')
    await expect(said(page, 'One more boat')).toBeVisible({ timeout: 25_000 })
    await owner.call('DELETE', `messages/${id}`)
    await expect(said(page, 'One more boat')).toHaveCount(0, { timeout: 90_000 })
})

test('what is no longer open goes from the screen with the next look', async ({ page }) => {
    test.slow()
    await open()
    const closing = unique('closing')
    await owner.call('POST', 'users/me/subscriptions', { subscriptions: [{ name: closing }], is_web_public: true })
    const { stream_id } = await owner.call<{ stream_id: number }>('GET', 'get_stream_id', { stream: closing })
    await owner.send(stream_id, 'quay', 'Soon for ourselves')
    await page.goto(`${dev.url}/#narrow/channel/${stream_id}-${closing}/topic/quay`)
    await expect(said(page, 'Soon for ourselves')).toBeVisible()
    await owner.call('PATCH', `streams/${stream_id}`, { is_private: true })
    await expect(page.getByText('Soon for ourselves')).toHaveCount(0, { timeout: 25_000 })
    await expect(places(page).getByText(closing)).toHaveCount(0)
})

test('a link leads to its message, and signing in there leads to the same one', async ({ page }) => {
    await open()
    await page.goto(topicLink(`/near/${first}`))
    const message = said(page, 'The boats are in')
    await expect(message).toBeInViewport()
    await expect(message.getByRole('button', { name: /1: :tada:/ })).toBeDisabled()
    await takePart(page).click()
    await signIn(page)
    await expect(places(page).getByRole('link', { name: 'Inbox' })).toBeVisible()
    await expect(said(page, 'The boats are in')).toBeInViewport()
    expect(page.url()).toContain(`/near/${first}`)
})

test('what is not open looks like what does not exist, and the sign-in leads to it', async ({ page }) => {
    await open()
    const general = dev.channels.find((each) => each.name === 'general')!.stream_id
    const texts: string[] = []
    for (const place of [`channel/${general}`, 'channel/99999', `channel/${general}/topic/welcome`, 'is/starred']) {
        await page.goto('about:blank')
        await page.goto(`${dev.url}/#narrow/${place}`)
        await expect(page.getByRole('heading', { name: 'You can’t see this' }).first()).toBeVisible()
        texts.push(await page.getByText('If you have an account').innerText())
    }
    expect(new Set(texts).size).toBe(1)
    await page.goto(`${dev.url}/#narrow/channel/${general}`)
    await takePart(page).click()
    await signIn(page)
    await expect(page.getByRole('heading', { level: 1, name: 'general' })).toBeVisible()
})

test('from the sign-in page one goes back to reading, and other pages at the door stay', async ({ page }) => {
    await open()
    await page.goto(`${dev.url}/#forgotten`)
    await expect(page.getByRole('heading', { name: 'Choose a new password' })).toBeVisible()
    await page.goto(`${dev.url}/#sign-in`)
    const browse = page.getByRole('button', { name: 'Browse the public channels' })
    await expect(browse).toBeVisible()
    await page.evaluate(() => (location.hash = ''))
    await takePart(page).click()
    await page.route('**/api/v1/register', (route) => route.abort())
    await browse.click()
    await expect(page.getByRole('alert')).toContainText('The server didn’t respond')
    await page.unroute('**/api/v1/register')
    await browse.click()
    await expect(page.getByText('What we talk about')).toBeVisible()
    await takePart(page).click()
    await expect(page.getByLabel('Email')).toBeVisible()
    await page.getByRole('button', { name: 'Browse the public channels' }).click()
    await expect(page.getByText('What we talk about')).toBeVisible()
})

test('it is clean in both themes, on a phone and a desktop', async ({ page }) => {
    await open()
    for (const width of [360, 1200]) {
        await page.setViewportSize({ width, height: 800 })
        for (const path of ['/', topicLink().slice(dev.url.length)]) {
            await page.goto('about:blank')
            await page.goto(dev.url + path)
            await expect(takePart(page)).toBeVisible()
            for (const colorScheme of ['light', 'dark'] as const) {
                await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
                expect.soft(await complaints(page, null), `${path}, ${width}, ${colorScheme}`).toEqual([])
            }
            const wide = await page.evaluate(() => document.documentElement.scrollWidth)
            expect.soft(wide, `${path} sticks out`).toBeLessThanOrEqual(width)
            if (process.env['LOOK'])
                await page.screenshot({ path: `${process.env['LOOK']}/${width}${path.length}.png` })
        }
    }
    await page.setViewportSize({ width: 360, height: 800 })
    await page.getByRole('button', { name: 'Back' }).click()
    await places(page).getByRole('link', { name: 'lighthouse' }).click()
    await expect(said(page, 'It is lit')).toBeVisible()
})
