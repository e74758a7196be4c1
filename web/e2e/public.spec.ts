/** The public pages: axe finds nothing in light and in dark, they fit a phone, nothing moves while they load, and they work
 *  without scripts. The client leads to them. */
import type { Page } from '@playwright/test'
import { complaints } from './complaints'
import { expect, ownerOf, test, unique } from './people'
import { type Dev, startServer } from './server'

test.use({ trace: 'off' })

const EVERYTHING = [
    'A [link](https://example.com), `code`, **bold**, @**all** and :tada:.',
    '```python\ndef f(x):\n    return "text", 12  # why\n```',
    '> quoted\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |',
    '```spoiler Ending\nThe cat did it.\n```',
    '$$x^2$$',
    'x'.repeat(300),
]

let dev: Dev
let stop: () => Promise<void>
let channel: number
let topic: string
const name = unique('open')

test.beforeAll(async () => {
    ;({ dev, stop } = await startServer({ TERTULIA_WEB_PUBLIC_STREAMS_ENABLED: 'true' }))
    const owner = ownerOf(dev)
    await owner.call('PATCH', 'realm', { enable_spectator_access: true })
    await owner.call('POST', 'users/me/subscriptions', { subscriptions: [{ name }], is_web_public: true })
    channel = (await owner.call<{ stream_id: number }>('GET', 'get_stream_id', { stream: name })).stream_id
    for (const text of EVERYTHING) await owner.send(channel, 'markup', text)
    const index = await (await fetch(`${dev.url}/public/channels/${channel}`)).text()
    topic = /\/public\/channels\/\d+\/topics\/\d+/.exec(index)![0]
})
test.afterAll(() => stop())

const paths = () => ['/public/', `/public/channels/${channel}`, topic, '/public/nothing']

async function small(page: Page): Promise<string[]> {
    return page.evaluate(() =>
        [...document.querySelectorAll('nav a, footer a, .top a, .list a, .who a, summary')]
            .filter((each) => each.getBoundingClientRect().height < 24)
            .map((each) => each.outerHTML),
    )
}

test('they are clean in both themes, on a phone and a desktop, and nothing moves', async ({ page }) => {
    for (const width of [360, 1200]) {
        await page.setViewportSize({ width, height: 800 })
        for (const path of paths()) {
            await page.goto(dev.url + path)
            for (const colorScheme of ['light', 'dark'] as const) {
                await page.emulateMedia({ colorScheme })
                expect.soft(await complaints(page, null), `${path}, ${width}, ${colorScheme}`).toEqual([])
            }
            const wide = await page.evaluate(() => document.documentElement.scrollWidth)
            expect.soft(wide, `${path} sticks out`).toBeLessThanOrEqual(width)
            expect.soft(await small(page), path).toEqual([])
            const shifted = await page.evaluate(
                () =>
                    new Promise<number>((done) => {
                        let sum = 0
                        new PerformanceObserver((list) => {
                            for (const each of list.getEntries() as (PerformanceEntry & { value: number })[])
                                sum += each.value
                        }).observe({ type: 'layout-shift', buffered: true })
                        setTimeout(() => done(sum), 200)
                    }),
            )
            expect.soft(shifted, `${path} moves`).toBeLessThan(0.01)
        }
    }
})

test('they are read without scripts, from the list of channels to a spoiler', async ({ browser }) => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${dev.url}/public/`)
    await page.getByRole('link', { name: `#${name}` }).click()
    await page.getByRole('link', { name: 'markup' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'markup' })).toBeVisible()
    await expect(page.getByText('The cat did it.')).toBeHidden()
    await page.getByText('Ending').click()
    await expect(page.getByText('The cat did it.')).toBeVisible()
    await context.close()
})

test('the client of visitors and the menu of the channel lead to them', async ({ page, context }) => {
    await page.goto(dev.url)
    await page.getByRole('link', { name: 'View as plain pages' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Public channels' })).toBeVisible()

    const owner = dev.users.find((each) => each.role === 100)!
    await page.goto(`${dev.url}/#sign-in`)
    await page.getByLabel('Email').fill(owner.email)
    await page.getByLabel('Password', { exact: true }).fill(owner.password!)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    const row = page.getByRole('link', { name: new RegExp(name) }).first()
    await row.click({ button: 'right' })
    const opened = context.waitForEvent('page')
    await page.getByRole('menuitem', { name: 'Public page' }).click()
    const shown = await opened
    await expect(shown.getByRole('heading', { level: 1, name: `#${name}` })).toBeVisible()
})
