/** From what somebody does to what they see: fifty interactions as a person makes them, measured by the browser itself (Event
 *  Timing), and from an event of the server to the paint of the side bar. `npm run figures -- interactions`.
 *
 *  Event Timing rounds to 8 ms and tells nothing that is faster than 16 ms: those count as 16. */
import { channelOf, expect, note, personOf, quantile, test, toNewest, type Person } from './figure'
import { TEXTS } from './rich'

const INTERACTIONS = 50
const FLOOR = 16
const BUDGET = 100
const EVENTS = 40

test.setTimeout(600_000)
test.use({ trace: 'off', screenshot: 'off' })

interface Entry {
    id: number
    name: string
    duration: number
}

test('interaction to next paint over fifty interactions', async ({ browser, dev }) => {
    const ines = await personOf(dev, 'ines', browser)
    const channel = channelOf(dev, 'general')
    let last = 0
    for (let at = 0; at < 60; at += 1) last = await ines.send(channel, 'interactions', TEXTS[at % TEXTS.length] ?? '')
    await ines.page.addInitScript(watch)
    await ines.go(`#narrow/channel/${channel}/topic/interactions`)
    await toNewest(ines.page, last)
    const steps = stepsOf(ines, channel)
    for (let at = 0; at < INTERACTIONS; at += 1) await steps[at % steps.length]?.()
    // What is late is told late.
    await ines.page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)))
    const entries = await ines.page.evaluate(() => (window as unknown as { entries: Entry[] }).entries)
    /** A key pressed is several events: the slowest of them is what the person waited for. */
    const slowest = new Map<number, Entry>()
    for (const entry of entries)
        if (entry.duration > (slowest.get(entry.id)?.duration ?? 0)) slowest.set(entry.id, entry)
    const durations = [...slowest.values()].map(({ duration }) => duration)
    while (durations.length < INTERACTIONS) durations.push(FLOOR)
    const parts = [0.5, 0.95].map((part) => quantile(durations, part))
    note(
        `${INTERACTIONS} interactions, ms to the next paint p50 / p95 / longest (budget p95 ${BUDGET})`,
        [...parts, Math.max(...durations)].join(' / '),
    )
    const worst = [...slowest.values()].sort((a, b) => b.duration - a.duration).slice(0, 3)
    note('the slowest of them', worst.map(({ name, duration }) => `${name} ${duration} ms`).join(', '))
    await ines.context.close()
})

test('from an event to the paint of the side bar', async ({ browser, dev }) => {
    const [ines, kofi] = await Promise.all(['ines', 'kofi'].map((name) => personOf(dev, name, browser)))
    if (!ines || !kofi) throw new Error('somebody is missing')
    await ines.go('#settings/appearance')
    await expect(ines.page.getByRole('heading', { name: 'Look and feel' })).toBeVisible()
    const bar = await ines.page.evaluateHandle(watchSideBar)
    const channel = channelOf(dev, 'kitchen')
    for (let at = 1; at <= EVENTS; at += 1) {
        const before = await bar.evaluate(({ painted }) => painted.length)
        await kofi.send(channel, 'painted', `Event ${at}`)
        await expect.poll(() => bar.evaluate(({ painted }) => painted.length)).toBeGreaterThan(before)
    }
    const times = await bar.evaluate(({ painted }) => {
        const heard = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/api/v1/events'))
        const ends = heard.map((entry) => (entry as PerformanceResourceTiming).responseEnd)
        // The first paint after each answer, if there was one before the next answer.
        return ends.flatMap((end, at) => {
            const first = painted.find((time) => time >= end)
            return first !== undefined && first < (ends[at + 1] ?? Infinity) ? [first - end] : []
        })
    })
    note(
        `${times.length} events, from the client's hearing of one to the paint of the side bar, ms p50 / p95`,
        [0.5, 0.95].map((part) => quantile(times, part).toFixed(1)).join(' / '),
    )
    for (const person of [ines, kofi]) await person.context.close()
})

/** What a person does in a conversation, in turn: going through messages, writing, opening and closing, changing places. */
function stepsOf({ page }: Person, channel: number): (() => Promise<void>)[] {
    const press = (key: string) => () => page.keyboard.press(key)
    const link = (name: string) => () =>
        page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name }).first().click()
    const open = (name: string) => () =>
        page.getByRole('main').getByRole('button', { name, exact: true }).first().click()
    return [
        press('k'),
        press('k'),
        press('j'),
        press('Home'),
        press('End'),
        press('PageUp'),
        press('c'),
        press('w'),
        press('o'),
        press('Backspace'),
        press('Backspace'),
        press('Escape'),
        press('Control+k'),
        press('a'),
        press('ArrowDown'),
        press('Escape'),
        press('?'),
        press('Escape'),
        open('More'),
        press('Escape'),
        link('Inbox'),
        link('Recent conversations'),
        link('Combined feed'),
        link('general'),
        async () => {
            await page.locator(`a[href*="channel/${channel}"][href*="topic/interactions"]`).first().click()
        },
    ]
}

/** Runs in the page before anything else does. */
function watch(): void {
    const entries: Entry[] = []
    Object.assign(window, { entries })
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as (PerformanceEntry & { interactionId?: number })[])
            if (entry.interactionId)
                entries.push({ id: entry.interactionId, name: entry.name, duration: entry.duration })
    }).observe({ type: 'event', durationThreshold: 16, buffered: true } as PerformanceObserverInit)
}

/** Runs in the page: the moments at which a changed side bar was painted. */
function watchSideBar(): { painted: number[] } {
    const found = { painted: [] as number[] }
    performance.setResourceTimingBufferSize(2000)
    const bar = document.querySelector('nav') as HTMLElement
    new MutationObserver(() => {
        // A task after the frame's own work: what changed is on its way to the screen.
        requestAnimationFrame(() => setTimeout(() => found.painted.push(performance.now())))
    }).observe(bar, { subtree: true, childList: true, characterData: true })
    return found
}
