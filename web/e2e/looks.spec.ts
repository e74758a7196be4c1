/** The ten main views look as they did: pictures of them are compared with those in `looks/`. What differs is a failure, until
 *  somebody has looked at it and says that it is meant (README.md here). docs/decisions/0179-looks-and-budgets.md says why so.
 *
 *  A server of its own, so that numbers, faces and colours are the same every time; moments and what depends on the machine's
 *  own fonts (emoji) are left out by looks.css. */
import { fileURLToPath } from 'node:url'
import type { Locator, Page } from '@playwright/test'
import { callerOf, expect, makeChannel, type Person, personOf, test } from './people'
import { type Dev, startServer } from './server'

test.use({
    viewport: { width: 1024, height: 700 },
    trace: 'off',
    launchOptions: async ({ launchOptions }, use) => {
        // Letters as the font has them: what a machine does to them by its own settings is no look of ours.
        const flags = ['--font-render-hinting=none', '--disable-lcd-text', '--force-color-profile=srgb']
        await use({ ...launchOptions, args: [...(launchOptions.args ?? []), ...flags] })
    },
})

interface Look {
    name: string
    hash: string
    /** There once everything is. */
    ready: (page: Page) => Locator
}

const COMPARED = {
    stylePath: fileURLToPath(new URL('looks.css', import.meta.url)),
    // Letters drawn a little differently by another Chromium pass; the strokes of one small icon are more than that.
    threshold: 0.15,
    maxDiffPixels: 15,
}

/** The policy of the page would refuse looks.css. */
const UNGUARDED = { bypassCSP: true }

test.setTimeout(300_000) // twenty-two pictures, each taken until two are the same

let [dev, stop]: [Dev | null, () => Promise<void>] = [null, async () => {}]
test.beforeAll(async () => {
    const server = await startServer()
    dev = server.dev
    stop = server.stop
})
test.afterAll(() => stop())

test('the ten main views look as they did', async ({ browser }) => {
    if (!dev) throw new Error('there is no server')
    const channel = await setTheScene(dev)
    const outside = await browser.newPage({ baseURL: dev.url, ...UNGUARDED })
    await outside.goto('/')
    await expect(outside.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
    const otherwise = !(await drawsTheSameLetters(outside))
    test.skip(
        otherwise,
        'letters are drawn otherwise than where the pictures were taken: another font, or other settings',
    )
    await outside.reload()
    await expect(outside.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
    await compare(outside, 'sign-in')
    await outside.close()

    const ines = await personOf(dev, 'ines', browser, UNGUARDED)
    await see(ines, {
        name: 'inbox',
        hash: '#inbox',
        // Last of what comes by itself: that a hello was said.
        ready: (page) => page.getByRole('listitem').filter({ hasText: 'Say hello' }).getByLabel('Done'),
    })
    // What is on screen is marked as read a little later: from here on everything is.
    await ines.call('POST', 'mark_all_as_read')
    await expect(ines.page.getByRole('navigation', { name: 'Places' }).getByText(/unread/)).toHaveCount(0)
    const kofi = callerOf(dev, 'kofi').user.user_id
    const message = (text: string) => (page: Page) => page.locator('article[data-message]').getByText(text)
    const looks: Look[] = [
        { name: 'recent', hash: '#recent', ready: (page) => page.getByText('The first quarter is paid for.') },
        { name: 'feed', hash: '#feed', ready: message('Not a word to the others.') },
        { name: 'channel', hash: `#narrow/channel/${channel}`, ready: message('the right size for talk') },
        { name: 'topic', hash: `#narrow/channel/${channel}/topic/colour`, ready: message('stay two names') },
        { name: 'direct', hash: `#narrow/dm/${kofi}`, ready: message('Not a word to the others.') },
        { name: 'search', hash: '#narrow/search/scale', ready: message('both themes come from it') },
        {
            name: 'channels',
            hash: '#channels',
            ready: (page) => page.getByRole('main').getByText('How it looks and feels'),
        },
        { name: 'channel-page', hash: `#channels/${channel}`, ready: (page) => page.getByLabel('Description') },
        {
            name: 'appearance',
            hash: '#settings/appearance',
            ready: (page) => page.getByRole('heading', { name: 'Look and feel' }),
        },
    ]
    for (const look of looks) await see(ines, look)
    await ines.context.close()
})

/** The page has the machine's own fonts: with others every picture would differ, and tell nothing. */
async function drawsTheSameLetters(page: Page): Promise<boolean> {
    await page.evaluate(() => {
        const letters = 'The quick brown fox jumps over the lazy dog, 0123456789 (?!)'
        document.body.innerHTML = `<p>${letters}</p><p><b>${letters}</b></p><p><em>${letters}</em></p><pre>${letters}</pre>`
    })
    try {
        await expect(page).toHaveScreenshot('letters.png', { ...COMPARED, timeout: 5_000 })
        return true
    } catch (error) {
        if (!/pixels/.test(String(error))) throw error
        return false
    }
}

async function see(person: Person, { name, hash, ready }: Look): Promise<void> {
    await person.go(hash)
    await expect(ready(person.page).first()).toBeVisible()
    await compare(person.page, name)
}

/** In both themes; one that differs does not hide the others. */
async function compare(page: Page, name: string): Promise<void> {
    await page.mouse.move(0, 0)
    for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
        await expect.soft(page).toHaveScreenshot(`${name}-${colorScheme}.png`, COMPARED)
    }
}

/** Besides what every `tertulia dev` has; the number of the channel with most of it. */
async function setTheScene(dev: Dev): Promise<number> {
    const [ines, anton, lea, kofi] = ['ines', 'anton', 'lea', 'kofi'].map((name) => callerOf(dev, name))
    if (!ines || !anton || !lea || !kofi) throw new Error('somebody is missing')
    const channel = await makeChannel(dev, 'design', [ines, anton, lea, kofi])
    await ines.call('PATCH', `streams/${channel}`, { description: 'How it looks and feels' })
    await lea.send(
        channel,
        'colour',
        'Three accents on paper:\n\n| Accent | Light | Dark |\n|:---|---:|---:|\n| Clay | 5.6 | 8.1 |',
    )
    await ines.send(channel, 'colour', 'Terracotta it is. @**Anton Weber** takes the *tokens*, see `base.css`.')
    await anton.send(
        channel,
        'colour',
        'One scale, both themes come from it:\n```css\n:root {\n    color-scheme: light dark;\n}\n```',
    )
    await lea.send(channel, 'colour', '> Terracotta it is.\n\nUnread and accent stay two names.')
    await kofi.send(channel, 'type', 'Is 15 the right size for talk?')
    await kofi.call('POST', 'messages', { type: 'direct', to: [ines.user.user_id], content: 'Cake at four.' })
    await kofi.call('POST', 'messages', {
        type: 'direct',
        to: [ines.user.user_id],
        content: 'Not a word to the others.',
    })
    return channel
}
