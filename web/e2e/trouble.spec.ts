/** The server restarts, the network goes, the queue is lost: nothing written is lost, nothing arrives twice. */
import { channelOf, expect, makeChannel, personOf, test, unique } from './people'
import { pidsOf, startServer } from './server'
import { TalkPage } from './talk-page'

test('a restart of the server loses and doubles nothing', async ({ browser }) => {
    const { dev, stop } = await startServer()
    try {
        const [ines, kofi] = [await personOf(dev, 'ines', browser), await personOf(dev, 'kofi', browser)]
        const general = channelOf(dev, 'general')
        const topic = unique('restart')
        await ines.send(general, topic, 'Before')
        const [hers, his] = [new TalkPage(ines.page), new TalkPage(kofi.page)]
        await Promise.all([ines, kofi].map((each) => each.go(`#narrow/channel/${general}/topic/${topic}`)))
        await Promise.all([hers.sees('Before'), his.sees('Before')])
        await his.box.fill('Half written')

        const old = pidsOf(dev)['web'] ?? 0
        process.kill(old, 'SIGKILL')
        await hers.write('While it was away, one')
        await hers.write('While it was away, two')
        await expect.poll(() => pidsOf(dev)['web'], { timeout: 30_000 }).not.toBe(old)
        await expect(hers.outgoing).toHaveCount(0, { timeout: 30_000 })
        await expect(his.message('While it was away, two')).toBeVisible({ timeout: 30_000 })
        await hers.write('After')
        await his.sees('After')

        const expected = ['Before', 'While it was away, one', 'While it was away, two', 'After']
        expect(await ines.texts(general, topic)).toEqual(expected)
        await expect.poll(() => hers.texts()).toEqual(expected)
        await expect.poll(() => his.texts()).toEqual(expected)
        await expect(his.box).toHaveValue('Half written')
        await Promise.all([ines, kofi].map((each) => each.context.close()))
    } finally {
        await stop()
    }
})

test('without a network one reads on, writes, and it goes out when the network is back', async ({ person, dev }) => {
    const [ines, kofi] = [await person('ines'), await person('kofi')]
    const general = channelOf(dev, 'general')
    const topic = unique('offline')
    await ines.send(general, topic, 'Before')
    const page = new TalkPage(kofi.page)
    await kofi.go(`#narrow/channel/${general}/topic/${topic}`)
    await page.sees('Before')

    await kofi.context.setOffline(true)
    await page.write('Written in a tunnel')
    await expect(page.outgoing).toContainText('Written in a tunnel')
    await expect(kofi.page.getByText('Will be sent when you’re back online', { exact: true })).toBeVisible()
    await ines.send(general, topic, 'Said meanwhile')
    await kofi.context.setOffline(false)

    await expect(page.outgoing).toHaveCount(0)
    await expect.poll(() => page.texts()).toEqual(['Before', 'Said meanwhile', 'Written in a tunnel'])
    expect(await kofi.texts(general, topic)).toEqual(['Before', 'Said meanwhile', 'Written in a tunnel'])
})

test('what was written offline survives a reload', async ({ person, dev }) => {
    const kofi = await person('kofi')
    const general = channelOf(dev, 'general')
    const topic = unique('kept')
    await kofi.send(general, topic, 'Before')
    const page = new TalkPage(kofi.page)
    await kofi.go(`#narrow/channel/${general}/topic/${topic}`)
    await page.sees('Before')
    await kofi.page.route('**/api/v1/messages', (route) =>
        route.request().method() === 'POST' ? route.abort() : route.fallback(),
    )
    await page.write('Patience')
    await expect(page.outgoing).toContainText('Patience')
    await kofi.page.unroute('**/api/v1/messages')
    await kofi.page.reload()
    await page.sees('Patience')
    await expect(page.outgoing).toHaveCount(0)
    expect(await kofi.texts(general, topic)).toEqual(['Before', 'Patience'])
})

test('a page that slept for longer than its queue lived catches up, without losing the line', async ({
    person,
    dev,
}) => {
    const [ines, kofi] = [await person('ines'), await person('kofi')]
    const general = channelOf(dev, 'general')
    const topic = unique('queue')
    await ines.send(general, topic, 'Before')
    const page = new TalkPage(kofi.page)
    const polled = kofi.page.waitForRequest('**/api/v1/events?*')
    await kofi.go(`#narrow/channel/${general}/topic/${topic}`)
    await page.sees('Before')
    await page.box.fill('Half written')
    const queue = new URL((await polled).url()).searchParams.get('queue_id')

    await kofi.context.setOffline(true)
    await expect(kofi.page.getByText('You’re offline')).toBeVisible()
    await kofi.call('DELETE', 'events', { queue_id: queue })
    await ines.send(general, topic, 'While he slept')
    const registered = kofi.page.waitForRequest('**/api/v1/register')
    await kofi.context.setOffline(false)
    await registered
    await ines.send(general, topic, 'While he woke')
    await page.sees('While he woke')
    await ines.send(general, topic, 'Afterwards')
    await expect.poll(() => page.texts()).toEqual(['Before', 'While he slept', 'While he woke', 'Afterwards'])
    await expect(page.box).toHaveValue('Half written')
    await expect(kofi.page.getByText('You’re offline')).toHaveCount(0)
})

test('a message that is refused says why, and can be discarded', async ({ person, dev }) => {
    const kofi = await person('kofi')
    const general = channelOf(dev, 'general')
    const page = new TalkPage(kofi.page)
    await kofi.go(`#narrow/channel/${general}/topic/${unique('x').padEnd(70, 'x').replaceAll('-', '.2D')}`)
    await page.write('Where nobody may write')
    await expect(page.outgoing.getByRole('alert')).toContainText('60')
    await page.outgoing.getByRole('button', { name: 'Discard' }).click()
    await expect(page.outgoing).toHaveCount(0)
    await kofi.page.reload()
    await expect(page.box).toBeVisible()
    await expect(page.outgoing).toHaveCount(0)
})

test('a part of the program that does not come says so, and comes when it is asked for again', async ({ newcomer }) => {
    const nils = await newcomer('Nils Patient', { serviceWorkers: 'block' })
    const { page } = nils
    await nils.go('#inbox')
    await expect(page.getByRole('heading', { name: 'Inbox' })).toBeVisible()
    const parts = /\/assets\/(NewDirect|Channels)-[^/]*\.js$/
    await page.route(parts, (route) => route.abort())
    const write = page.getByRole('button', { name: 'New direct message' })
    const unloaded = page.getByRole('dialog', { name: 'This couldn’t be loaded' })
    await write.click()
    await expect(unloaded).toBeVisible()
    // No dead button: what was closed can be asked for once more.
    await unloaded.getByRole('button', { name: 'Cancel' }).click()
    await expect(unloaded).toBeHidden()
    await write.click()
    await expect(unloaded).toBeVisible()
    await nils.go('#channels')
    const missing = page.getByRole('alert').filter({ hasText: 'This couldn’t be loaded' })
    await expect(missing).toBeVisible()

    await page.unroute(parts)
    await unloaded.getByRole('button', { name: 'Try again' }).click()
    await expect(page.getByRole('dialog').getByRole('combobox', { name: 'Names of people' })).toBeVisible()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await missing.getByRole('button', { name: 'Try again' }).click()
    await expect(page.getByRole('main').getByRole('heading', { level: 1 })).toBeVisible()
})

test('what is said stands above what is open', async ({ newcomer, dev }) => {
    const nils = await newcomer('Nils Above', { permissions: ['clipboard-read', 'clipboard-write'] })
    const channel = await makeChannel(dev, unique('layers'), [nils])
    await nils.send(channel, 'top', 'A line')
    const { page } = nils
    const talk = new TalkPage(page)
    await nils.go(`#narrow/channel/${channel}/topic/top`)
    const said = page.getByRole('status').getByText('Link copied.')
    const isOnTop = () =>
        said.evaluate((line) => {
            const { left, top, width, height } = line.getBoundingClientRect()
            return line.contains(document.elementFromPoint(left + width / 2, top + height / 2))
        })
    const wide = page.viewportSize()!
    // What is said goes after some seconds: a browser that is held up begins again.
    await expect(async () => {
        await page.setViewportSize(wide)
        await talk.choose('A line', 'Copy link')
        await expect(said).toBeVisible()
        // A menu that opens afterwards, where the line is.
        await page.setViewportSize({ width: 390, height: 844 })
        await page.getByRole('banner').or(page.getByRole('main')).getByRole('button', { name: 'More' }).first().click()
        await expect(page.getByRole('menu')).toBeVisible()
        try {
            await said.hover({ timeout: 3_000 })
            expect(await isOnTop()).toBe(true)
        } finally {
            await page.keyboard.press('Escape')
        }
    }).toPass({ timeout: 60_000 })
})
