/** The side bar of somebody in 300 channels: what it costs, and that it stays calm. A server of its own, because it is filled. */
import type { Locator, Page } from '@playwright/test'
import { callerOf, expect, personOf, test, type Caller } from './people'
import { runCommand, runStatement, startServer, type Dev } from './server'
import { TalkPage } from './talk-page'

const CHANNELS = 300
const MESSAGES = 6000
const TOPICS = 120
const EVENTS = 40
/** Everything else of the fill was silent for weeks. */
const LIVELY = 40

let dev: Dev
let stop: () => Promise<void> = async () => {}
let filled: { stream_id: number; name: string }[] = []

test.setTimeout(400_000)
test.describe.configure({ mode: 'serial' })
test.use({ trace: 'off' })

test.beforeAll(async () => {
    test.setTimeout(400_000)
    ;({ dev, stop } = await startServer())
    const fill = ['dev', 'fill', '--json', '--channels', String(CHANNELS), '--messages', String(MESSAGES)]
    filled = (JSON.parse(await runCommand(dev, fill)) as { channels: typeof filled }).channels
    const silent = filled.slice(LIVELY).map((channel) => channel.stream_id)
    const year = "date_created = date_created - interval '1 year'"
    await runStatement(dev, `update channel set weekly_traffic = 0, ${year} where id in (${silent.join()})`)
    const kofi = callerOf(dev, 'kofi')
    for (let at = 0; at < TOPICS; at += 1) await kofi.send(filled[0]?.stream_id ?? 0, `matter ${at}`, 'Words')
    await callerOf(dev, 'ines').call('POST', 'mark_all_as_read')
})
test.afterAll(() => stop())

const barOf = (page: Page) => page.getByRole('navigation', { name: 'Places', exact: true })
const nodesIn = (bar: Locator) => bar.evaluate((element) => element.querySelectorAll('*').length)
const topOf = (row: Locator) => row.evaluate((element) => element.getBoundingClientRect().top)
const named = (at: number) => filled[at]?.name ?? ''
const rowOf = (bar: Locator, at: number) => bar.getByRole('link', { name: named(at), exact: true })

test('of 300 channels the quiet ones are folded away, and never one that has something new, is pinned or open', async ({
    browser,
}) => {
    const ines = await personOf(dev, 'ines', browser)
    const kofi = callerOf(dev, 'kofi')
    const [unread, pinned, open] = [120, 180, 240]
    const { stream_id: pinnedId } = filled[pinned] ?? { stream_id: 0 }
    await kofi.send(filled[unread]?.stream_id ?? 0, 'news', 'There is news')
    await ines.call('POST', 'users/me/subscriptions/properties', {
        subscription_data: [{ stream_id: pinnedId, property: 'pin_to_top', value: true }],
    })
    await ines.go(`#narrow/channel/${filled[open]?.stream_id}`)
    const bar = barOf(ines.page)
    for (const at of [0, pinned, open]) await expect(rowOf(bar, at)).toBeVisible()
    await expect(bar.getByRole('link', { name: new RegExp(`^${named(unread)} `) })).toBeVisible()
    await expect(rowOf(bar, 299)).toHaveCount(0)
    await expect(rowOf(bar, open), 'where one is, is in view').toBeInViewport()
    expect(await nodesIn(bar)).toBeLessThan(1500)

    const more = bar.getByRole('button', { name: /^\d+ quiet channels$/ })
    await expect(more).toHaveText(`${CHANNELS - LIVELY - 3} quiet channels`)
    await more.click()
    await expect(rowOf(bar, 299)).toBeVisible()
    expect(await nodesIn(bar)).toBeLessThan(CHANNELS * 16)
    await bar.getByRole('button', { name: 'Hide quiet channels' }).click()
    await expect(rowOf(bar, 299)).toHaveCount(0)

    // Whoever wants to see all of them does.
    await ines.call('PATCH', 'settings', { demote_inactive_streams: 3 })
    await expect(rowOf(bar, 299)).toBeVisible()
    await ines.call('PATCH', 'settings', { demote_inactive_streams: 1 })
    await expect(rowOf(bar, 299)).toHaveCount(0)

    // The head stays.
    await bar.getByRole('link', { name: named(LIVELY - 1), exact: true }).scrollIntoViewIfNeeded()
    await expect(bar.getByRole('button', { name: /Find/ })).toBeInViewport()
    await ines.context.close()
})

test('a channel with very many topics shows the newest, and more at every press', async ({ browser }) => {
    const ines = await personOf(dev, 'ines', browser)
    await ines.go(`#narrow/channel/${filled[0]?.stream_id}`)
    const bar = barOf(ines.page)
    const topics = bar.getByRole('list', { name: /^Topics in/ }).getByRole('link')
    await expect(topics).toHaveCount(6)
    await bar.getByRole('button', { name: /more topics/ }).click()
    await expect(topics).toHaveCount(56)
    await bar.getByRole('button', { name: 'Show fewer topics' }).click()
    await expect(topics).toHaveCount(6)
    // One that is far down is in the list while it is open, and in view.
    await ines.go(`#narrow/channel/${filled[0]?.stream_id}/topic/matter.200`)
    await expect(topics).toHaveCount(7)
    await expect(topics.filter({ hasText: /^\s*matter 0/ })).toBeInViewport()
    await ines.context.close()
})

test('what arrives moves nothing that is being looked at, and is painted at once', async ({ browser }) => {
    const ines = await personOf(dev, 'ines', browser)
    const kofi = callerOf(dev, 'kofi')
    await watchPaints(ines.page)
    await ines.go(`#narrow/channel/${filled[0]?.stream_id}`)
    const bar = barOf(ines.page)
    const looked = rowOf(bar, LIVELY - 1)
    await looked.evaluate((row) => row.scrollIntoView({ block: 'center' }))
    await new TalkPage(ines.page).sees('Words')
    const first = await ines.page.evaluate(() => window.sideBarPaints.first)
    const stretch = await stretchOf(ines.page)
    const before = await topOf(looked)

    // Quiet channels come up above it, topics of the open one change their order, others count up.
    for (let at = 0; at < EVENTS; at += 1) await say(kofi, at)
    const last = bar.getByRole('link', { name: new RegExp(`^${named(LIVELY + EVENTS - 1)} `) })
    await expect(last).toHaveCount(1, { timeout: 60_000 })
    await expect.poll(() => ines.page.evaluate(() => window.sideBarPaints.after.length)).toBeGreaterThan(5)
    expect(Math.abs((await topOf(looked)) - before), 'the row that is looked at stays').toBeLessThan(2)
    expect(await nodesIn(bar)).toBeLessThan(2500)
    const after = (await ines.page.evaluate(() => window.sideBarPaints.after)).toSorted((a, b) => a - b)
    const slower = Math.max(stretch, await stretchOf(ines.page))
    const at = (part: number) => after[Math.floor(after.length * part)] ?? 0
    const figures = [
        `first paint ${first.toFixed(0)} ms after the state came`,
        `of ${after.length} arrivals p50 ${at(0.5).toFixed(0)} ms, p95 ${at(0.95).toFixed(0)} ms`,
        `on a machine ${slower.toFixed(1)} times slower than it is alone`,
    ].join('; ')
    test.info().annotations.push({ type: 'figure', description: figures })
    console.log(figures)
    // Twice the budget, which is for a machine with nothing else to do (figures): others work here while it is measured.
    expect(at(0.95), figures).toBeLessThan(200 * slower)
    expect(first, figures).toBeLessThan(1000 * slower)
    await ines.context.close()
})

test('with the keyboard through the side bar, past what is folded away', async ({ browser }) => {
    const ines = await personOf(dev, 'ines', browser)
    const { page } = ines
    await ines.go('#inbox')
    const bar = barOf(page)
    const inbox = bar.getByRole('link', { name: /^Inbox/ })
    await inbox.focus()
    await page.keyboard.press('ArrowDown')
    await expect(bar.getByRole('link', { name: 'Recent' })).toBeFocused()
    await page.keyboard.press('ArrowUp')
    await expect(inbox).toBeFocused()
    await page.keyboard.press('End')
    const more = bar.getByRole('button', { name: /quiet channels$/ })
    await expect(more).toBeFocused()
    await expect(more).toBeInViewport()
    await page.keyboard.press('Enter')
    await expect(bar.getByRole('button', { name: 'Hide quiet channels' })).toBeFocused()
    await page.keyboard.press('ArrowUp')
    const row = page.locator(':focus')
    await expect(row).toBeInViewport()
    await page.keyboard.press('Enter')
    await expect(row).toHaveAttribute('aria-current', 'page')
    await page.keyboard.press('Home')
    await expect(inbox).toBeFocused()
    await ines.context.close()
})

/** Something happens that the side bar of somebody at the first channel shows: in turn there, in a lively and in a quiet one. */
async function say(kofi: Caller, at: number): Promise<void> {
    const channel = [0, 1 + (at % (LIVELY - 2)), LIVELY + at][at % 3] ?? 0
    const to = at === EVENTS - 1 ? LIVELY + at : channel
    await kofi.send(filled[to]?.stream_id ?? 0, `matter ${at}`, 'Another word')
}

declare global {
    interface Window {
        /** Milliseconds: from the state that was registered to the first paint with channels; from each answer with events to the
         *  paint of what it changed. */
        sideBarPaints: { first: number; after: number[] }
    }
}

/** Note when answers came and when what they changed in the side bar was painted. */
async function watchPaints(page: Page): Promise<void> {
    await page.addInitScript(() => {
        const paints = (window.sideBarPaints = { first: 0, after: [] as number[] })
        let [registered, arrived] = [0, 0]
        const real = window.fetch
        window.fetch = async (input, init) => {
            const answer = await real(input, init)
            const url = input instanceof Request ? input.url : String(input)
            const read = answer.text.bind(answer)
            answer.text = async () => {
                const value = await read()
                if (url.includes('/register')) registered = performance.now()
                if (/\/events(\?|$)/.test(url)) {
                    arrived = performance.now()
                    // What changed nothing in the side bar by the next frame has nothing to do with what changes later.
                    painted(() => (arrived = 0))
                }
                return value
            }
            return answer
        }
        const painted = (then: () => void) =>
            requestAnimationFrame(() => {
                const { port1, port2 } = new MessageChannel()
                port1.addEventListener('message', then, { once: true })
                port1.start()
                port2.postMessage(null)
            })
        new MutationObserver((changes) => {
            const isBar = ({ target }: MutationRecord) =>
                (target instanceof Element ? target : target.parentElement)?.closest('nav ul')
            if (!changes.some(isBar)) return
            if (!paints.first && document.querySelectorAll('nav li').length > 30)
                painted(() => (paints.first ||= performance.now() - registered))
            else if (arrived) {
                const since = arrived
                arrived = 0
                painted(() => paints.after.push(performance.now() - since))
            }
        }).observe(document, { subtree: true, childList: true, characterData: true, attributes: true })
    })
}

/** How many times longer work takes here and now than on a machine that has nothing else to do. */
async function stretchOf(page: Page): Promise<number> {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Performance.enable')
    const own = async () => {
        const { metrics } = await devtools.send('Performance.getMetrics')
        return (metrics.find(({ name }) => name === 'ThreadTime')?.value ?? 0) * 1000
    }
    const before = await own()
    const wall = await page.evaluate(() => {
        const began = performance.now()
        for (let at = 0, sum = 0; at < 2e8; at += 1) sum += at % 7
        return performance.now() - began
    })
    const worked = (await own()) - before
    await devtools.detach()
    return Math.max(1, wall / worked)
}
