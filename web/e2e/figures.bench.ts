/** Figures, not tests: `npm run figures` after a build. From a cold load to readable messages, and memory under traffic.
 *  An hour of traffic is played in as fast as the server takes it: one message a second, in ten topics of two channels. */
import type { CDPSession, Page } from '@playwright/test'
import { channelOf, expect, personOf, test } from './people'

const RUNS = 5
const HOUR = 3600
/** A phone on a middling network. */
const SLOW = { offline: false, latency: 150, downloadThroughput: 1_600_000 / 8, uploadThroughput: 750_000 / 8 }

test.setTimeout(600_000)

test('from a cold load to readable messages', async ({ browser, dev }) => {
    const ines = await personOf(dev, 'ines', browser)
    for (let at = 0; at < 200; at += 1) await ines.send(channelOf(dev, 'general'), 'history', `Said before, ${at}`)
    await ines.context.close()
    for (const [name, network] of [
        ['local', null],
        ['1.6 Mbit/s, 150 ms', SLOW],
    ] as const) {
        const [cold, warm]: [number[], number[]] = [[], []]
        for (let run = 0; run < RUNS; run += 1) {
            const person = await personOf(dev, 'ines', browser)
            const devtools = await person.context.newCDPSession(person.page)
            if (network) await devtools.send('Network.emulateNetworkConditions', network)
            cold.push(
                await readable(person.page, `${dev.url}/#narrow/channel/${channelOf(dev, 'general')}/topic/history`),
            )
            warm.push(await readable(person.page, null))
            await person.context.close()
        }
        console.log(
            `${name}: readable after ${median(cold)} ms cold, ${median(warm)} ms with a warm cache (median of ${RUNS})`,
        )
    }
})

async function readable(page: Page, address: string | null): Promise<number> {
    if (address) await page.goto(address, { waitUntil: 'commit' })
    else await page.reload({ waitUntil: 'commit' })
    await expect(page.locator('article[data-message]').last()).toBeVisible({ timeout: 30_000 })
    return Math.round(await page.evaluate(() => performance.now()))
}

test('memory after an hour of traffic', async ({ browser, dev }) => {
    const [ines, kofi] = [await personOf(dev, 'ines', browser), await personOf(dev, 'kofi', browser)]
    const channels = [channelOf(dev, 'general'), channelOf(dev, 'kitchen')]
    await ines.send(channels[0] ?? 0, 'traffic 0', 'The first')
    await ines.go('#feed')
    await expect(ines.page.locator('article[data-message]').last()).toBeVisible()
    const devtools = await ines.context.newCDPSession(ines.page)
    console.log(`at the start: ${await heap(devtools)} MB`)
    let sent = 0
    const send = async () => {
        while (sent < HOUR) {
            sent += 1
            await kofi.send(
                channels[sent % 2] ?? 0,
                `traffic ${sent % 10}`,
                `Message ${sent} of a busy hour, with **some** words`,
            )
        }
    }
    const started = Date.now()
    await Promise.all(Array.from({ length: 8 }, send))
    const last = await kofi.send(channels[0] ?? 0, 'traffic 0', 'The very last one')
    // The reader stays where the unread messages begin until they go to the end.
    await ines.page.getByRole('button', { name: 'Newest messages' }).click({ timeout: 60_000 })
    await expect(ines.page.locator(`article[data-message="${last}"]`)).toBeVisible({ timeout: 60_000 })
    console.log(`${HOUR} messages in ${Math.round((Date.now() - started) / 1000)} s`)
    console.log(`after them: ${await heap(devtools)} MB`)
})

/** Megabytes that are in use after the garbage is gone. */
async function heap(devtools: CDPSession): Promise<string> {
    await devtools.send('HeapProfiler.collectGarbage')
    const { usedSize } = await devtools.send('Runtime.getHeapUsage')
    return (usedSize / 1e6).toFixed(1)
}

function median(values: number[]): number {
    return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
