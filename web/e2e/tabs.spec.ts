/** One person with several tabs: they know the same, announce a message once, and go out together. */
import type { Page } from '@playwright/test'
import { callerOf, expect, makeChannel, test, unique } from './people'
import { TalkPage } from './talk-page'
import { press, workerOf } from './worker'

interface Told {
    notes: string[]
    tones: number
}

/** Runs in a page before anything else: remembers what it shows on the desktop and sounds. */
function listen(): void {
    const told: Told = { notes: [], tones: 0 }
    Object.assign(window, { told })
    const { showNotification } = ServiceWorkerRegistration.prototype
    ServiceWorkerRegistration.prototype.showNotification = function (title, options) {
        told.notes.push(`${title}: ${options?.body}`)
        return showNotification.call(this, title, options)
    }
    const { createOscillator } = AudioContext.prototype
    AudioContext.prototype.createOscillator = function () {
        told.tones += 1
        return createOscillator.call(this)
    }
}

const told = (page: Page) => page.evaluate(() => (window as unknown as { told: Told }).told)

test('a message is announced by one tab, and what is read, written and signed in one is so in the other', async ({
    newcomer,
    dev,
}) => {
    const mara = await newcomer('Mara Tabs', { permissions: ['notifications'] })
    const kofi = callerOf(dev, 'kofi')
    const channel = await makeChannel(dev, unique('tabs'), [mara, kofi])
    const direct = (content: string) =>
        kofi.call('POST', 'messages', { type: 'direct', to: [mara.user.user_id], content })
    await mara.context.addInitScript(listen)
    const pages = [mara.page, await mara.context.newPage()]
    for (const page of pages) {
        await page.goto(dev.url + '/#inbox')
        // Browsers let a page sound only after it was touched.
        await page.getByRole('heading', { name: 'Inbox' }).click()
        await page.evaluate(async () => void (await navigator.serviceWorker.ready))
    }

    const all = async () => (await Promise.all(pages.map(told))).flatMap(({ notes }) => notes)
    await direct('**Psst**, a ||secret||')
    for (const page of pages) await expect(page).toHaveTitle(/^\(1\) Inbox/)
    await expect.poll(all).toEqual([expect.stringMatching(/^Kofi Mensah: Psst, a /)])
    await direct('Are you there?')
    const both = expect.stringMatching(/^Kofi Mensah \(2\): Psst, a .*\nAre you there\?$/)
    await expect.poll(async () => (await all()).toSorted()).toEqual([both, expect.stringMatching(/^Kofi Mensah: Psst/)])
    const tones = (await Promise.all(pages.map(told))).reduce((sum, each) => sum + each.tones, 0)
    expect(tones, 'two of each chime').toBe(4)

    await press(await workerOf(mara.context), '')
    const isThere = (page: Page) => /#narrow\/dm\/\d+\/near\/\d+/.test(page.url())
    await expect.poll(() => pages.filter(isThere).length, 'one of them goes there').toBe(1)
    const [announcing, other] = (isThere(pages[0] as Page) ? pages : pages.toReversed()) as [Page, Page]
    await new TalkPage(announcing).sees('Are you there?')
    await expect(other.getByRole('heading', { name: 'You’re all caught up' })).toBeVisible()
    await expect(other).toHaveTitle(/^Inbox/)

    const topic = unique('both')
    await kofi.send(channel, topic, 'Write me')
    const [one, two] = [new TalkPage(announcing), new TalkPage(other)]
    for (const { page } of [one, two]) await page.goto(`${dev.url}/#narrow/channel/${channel}/topic/${topic}`)
    await Promise.all([one.sees('Write me'), two.sees('Write me')])
    await one.box.fill('Half a thought')
    await expect(two.box).toHaveValue('Half a thought')
    await two.write('A whole one')
    await expect(one.box).toHaveValue('')
    await expect.poll(() => one.texts()).toEqual(['Write me', 'A whole one'])
    await expect.poll(() => two.texts()).toEqual(['Write me', 'A whole one'])
    await expect.poll(async () => (await mara.call('GET', 'drafts'))['drafts']).toEqual([])

    const { page } = two
    await page.getByRole('button', { name: 'Menu', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await expect(one.page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
    await page.getByLabel('Email').fill(mara.user.email)
    await page.getByLabel('Password', { exact: true }).fill(mara.user.password ?? '')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await Promise.all([one.sees('A whole one'), two.sees('A whole one')])
})
