/** How smoothly a long talk scrolls: node e2e/scroll.mjs URL EMAIL PASSWORD HASH [MESSAGES]
 *  Scrolls upwards like a wheel does until so many messages went by, in headless Chromium, and says how long frames took,
 *  how long the main thread was busy in each, and whether the line being read ever jumped. */
import { chromium } from '@playwright/test'

const [url, email, password, hash, wanted = '20000'] = process.argv.slice(2)
const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
    ],
})
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
await page.goto(url)
await page.fill('input[name=username]', email)
await page.fill('input[name=password]', password)
await page.click('button[type=submit]')
await page.waitForSelector('#talk')
await page.evaluate((to) => (location.hash = to), hash)
await page.waitForSelector('[data-message]')
await page.waitForTimeout(1000)
const client = await page.context().newCDPSession(page)
await client.send('Performance.enable')
const metric = async (name) =>
    (await client.send('Performance.getMetrics')).metrics.find((each) => each.name === name).value
const before = {
    task: await metric('TaskDuration'),
    script: await metric('ScriptDuration'),
    layout: await metric('LayoutDuration'),
}

const result = await page.evaluate(async (messages) => {
    const scroller = document.querySelector('[role=log]')
    const ids = () => [...document.querySelectorAll('[data-message]')].map((each) => Number(each.dataset.message))
    const frames = []
    const seen = new Set()
    let jumps = 0
    let stalled = 0
    let last = performance.now()
    const began = last
    while (seen.size < messages && performance.now() - began < 300_000 && stalled < 300) {
        // The line at the middle: where should it be after the wheel moved by this much?
        const line = document.elementFromPoint(700, 400)?.closest('[data-message]')
        const top = line?.getBoundingClientRect().top ?? 0
        const from = scroller.scrollTop
        scroller.scrollTop -= 120
        const moved = from - scroller.scrollTop
        await new Promise((resolve) => requestAnimationFrame(resolve))
        const now = performance.now()
        // After the frame was drawn, so that what is measured is what was seen.
        await new Promise((resolve) => setTimeout(resolve))
        frames.push(now - last)
        last = now
        if (line?.isConnected && Math.abs(line.getBoundingClientRect().top - top - moved) > 3) jumps += 1
        for (const id of ids()) seen.add(id)
        stalled = moved === 0 ? stalled + 1 : 0
    }
    frames.sort((a, b) => a - b)
    const at = (part) => Number((frames[Math.floor(frames.length * part)] ?? 0).toFixed(1))
    return {
        messages: seen.size,
        seconds: Math.round((performance.now() - began) / 1000),
        frames: frames.length,
        p50: at(0.5),
        p95: at(0.95),
        p99: at(0.99),
        max: at(0.9999),
        over17: frames.filter((each) => each > 17.5).length,
        over34: frames.filter((each) => each > 34).length,
        jumps,
        rowsInPage: document.querySelectorAll('[data-message]').length,
    }
}, Number(wanted))
const after = {
    task: await metric('TaskDuration'),
    script: await metric('ScriptDuration'),
    layout: await metric('LayoutDuration'),
}
const perFrame = (name) => Number((((after[name] - before[name]) * 1000) / result.frames).toFixed(2))
console.log(
    JSON.stringify({
        ...result,
        busyMsPerFrame: perFrame('task'),
        scriptMsPerFrame: perFrame('script'),
        layoutMsPerFrame: perFrame('layout'),
        heapMB: Math.round((await metric('JSHeapUsedSize')) / 1e6),
    }),
)
await browser.close()
