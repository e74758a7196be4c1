/** From a cold load to readable messages: on this machine, and on a phone's network. */
import type { Page } from '@playwright/test'
import { channelOf, expect, note, personOf, quantile, test } from './figure'

const RUNS = 5
const NETWORKS = {
    'on the same machine': null,
    'at 1.6 Mbit/s, 150 ms': {
        offline: false,
        latency: 150,
        downloadThroughput: 1_600_000 / 8,
        uploadThroughput: 750_000 / 8,
    },
}

test.setTimeout(300_000)
test.use({ trace: 'off', screenshot: 'off' })

test('from a cold load to readable messages', async ({ browser, dev }) => {
    const ines = await personOf(dev, 'ines', browser)
    const channel = channelOf(dev, 'general')
    for (let at = 0; at < 200; at += 1) await ines.send(channel, 'history', `Said before, ${at}`)
    await ines.context.close()
    for (const [name, network] of Object.entries(NETWORKS)) {
        const [cold, warm]: [number[], number[]] = [[], []]
        for (let run = 0; run < RUNS; run += 1) {
            const person = await personOf(dev, 'ines', browser)
            const devtools = await person.context.newCDPSession(person.page)
            if (network) await devtools.send('Network.emulateNetworkConditions', network)
            cold.push(await readable(person.page, `${dev.url}/#narrow/channel/${channel}/topic/history`))
            warm.push(await readable(person.page, null))
            await person.context.close()
        }
        const [first, again] = [cold, warm].map((values) => Math.round(quantile(values, 0.5)))
        note(`readable messages ${name}, ms cold; with a warm cache (median of ${RUNS})`, `${first}; ${again}`)
    }
})

async function readable(page: Page, address: string | null): Promise<number> {
    if (address) await page.goto(address, { waitUntil: 'commit' })
    else await page.reload({ waitUntil: 'commit' })
    await expect(page.locator('article[data-message]').last()).toBeVisible({ timeout: 30_000 })
    return page.evaluate(() => performance.now())
}
