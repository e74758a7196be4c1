/** The client as an app: what Chromium says of its manifest, what is there without a network, and what other programs share. */
import type { Page } from '@playwright/test'
import { callerOf, expect, makeChannel, test, unique } from './people'
import { TalkPage } from './talk-page'

test('Chromium would install it, with the name of the organization and icons of every shape', async ({
    newcomer,
    dev,
}) => {
    const ida = await newcomer('Ida Install')
    await ida.go('#inbox')
    const devtools = await ida.context.newCDPSession(ida.page)
    const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors')
    // Every browser of a test is one that remembers nothing, where nothing is installed.
    expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([])
    const { errors, data } = await devtools.send('Page.getAppManifest')
    expect(errors).toEqual([])
    const manifest = JSON.parse(data ?? '{}')
    const { realm_name } = await (await fetch(`${dev.url}/api/v1/server_settings`)).json()
    expect(manifest).toMatchObject({ name: realm_name, display: 'standalone', share_target: { action: '/share' } })
})

/** The service worker has the page and what it is made of. */
async function isKept(page: Page): Promise<void> {
    await expect
        .poll(() =>
            page.evaluate(async () => {
                const kept = await (await caches.open('tertulia-shell')).keys()
                const paths = kept.map((each) => new URL(each.url).pathname)
                return paths.includes('/') && paths.some((path) => path.endsWith('.css'))
            }),
        )
        .toBe(true)
}

const keptTalks = (page: Page) =>
    page.evaluate(async () => {
        if (!(await caches.has('tertulia-last-read'))) return []
        const keys = await (await caches.open('tertulia-last-read')).keys()
        return keys.map((each) => decodeURIComponent(new URL(each.url).pathname))
    })

test('without a network it shows what was read last, then goes on; signing out leaves nothing', async ({
    newcomer,
    dev,
}) => {
    const olga = await newcomer('Olga Offline')
    const kofi = callerOf(dev, 'kofi')
    const topic = unique('tunnel')
    const channel = await makeChannel(dev, unique('train'), [olga, kofi])
    await kofi.send(channel, topic, 'Next stop: the mountain')
    const { page, context } = olga
    const talk = new TalkPage(page)
    const hash = `#narrow/channel/${channel}/topic/${topic}`
    await olga.go(hash)
    await talk.sees('Next stop: the mountain')
    await isKept(page)
    await expect.poll(async () => (await keptTalks(page)).some((path) => path.includes('talks'))).toBe(true)

    await context.setOffline(true)
    await page.reload()
    await talk.sees('Next stop: the mountain')
    await expect(page.getByRole('status').filter({ hasText: /offline|network|connection/i })).toBeVisible()
    await kofi.send(channel, topic, 'Out of the tunnel')
    await context.setOffline(false)
    await talk.sees('Out of the tunnel')

    await page.getByRole('button', { name: 'Menu', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
    await expect.poll(() => keptTalks(page)).toEqual([])
})

test('a text and a file that another program shares are asked about, and wait in the compose box', async ({
    newcomer,
}) => {
    const sara = await newcomer('Sara Share')
    const { page } = sara
    await sara.go('#inbox')
    await isKept(page)
    await page.evaluate(() => {
        const form = document.createElement('form')
        Object.assign(form, { method: 'POST', action: '/share', enctype: 'multipart/form-data' })
        for (const [name, value] of [
            ['text', 'Look at this'],
            ['url', 'https://example.com/page'],
        ]) {
            const field = document.createElement('input')
            Object.assign(field, { name, value })
            form.append(field)
        }
        const files = document.createElement('input')
        const held = new DataTransfer()
        held.items.add(new File(['tea, cake'], 'list.txt', { type: 'text/plain' }))
        Object.assign(files, { type: 'file', name: 'files', files: held.files })
        form.append(files)
        document.body.append(form)
        form.submit()
    })
    // Any website can do the same.
    const question = page.getByRole('alertdialog').or(page.getByRole('dialog'))
    await expect(question).toContainText('list.txt · Look at this')
    const uploads = () =>
        page.evaluate(async () => (await (await fetch('/api/v1/attachments')).json()).attachments.length)
    expect(await uploads()).toBe(0)
    await question.getByRole('button', { name: 'Add', exact: true }).click()
    const { box } = new TalkPage(page)
    await expect(box).toHaveValue(/Look at this\nhttps:\/\/example\.com\/page/)
    await expect(box).toHaveValue(/\[list\.txt\]\(\/user_uploads\//)
    expect(await page.evaluate(() => caches.has('tertulia-shared')), 'it is taken once').toBe(false)
})
