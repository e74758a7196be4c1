/** axe finds nothing serious, on any page, in light and in dark. */
import type { Page } from '@playwright/test'
import { COLOURS, complaints } from './complaints'
import { callerOf, expect, makeChannel, type Person, test, unique } from './people'
import { TalkPage } from './talk-page'
import { channelView, placeViews, settingsViews, type View } from './views'

test.describe.configure({ mode: 'parallel' })
// What is wrong is in the complaint itself; recording every page would cost more than looking at it.
test.use({ trace: 'off' })

async function clean(page: Page, name: string): Promise<void> {
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
    expect.soft(await complaints(page, null), `${name}, light`).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    expect.soft(await complaints(page, COLOURS), `${name}, dark`).toEqual([])
}

async function allClean(person: Person, views: View[]): Promise<void> {
    for (const view of views) {
        await person.go(view.hash)
        await expect(view.ready(person.page)).toBeVisible()
        await clean(person.page, view.hash)
    }
}

const EVERYTHING = [
    'A [link](https://example.com), `code`, **bold**, @**all** and :tada:.',
    '```python\ndef f(x):\n    return "text", 12  # why\n```',
    '> quoted\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |',
    '```spoiler Ending\nThe cat did it.\n```',
    '$$x^2$$',
    '/me waves',
]

test('the sign-in page, places and conversations', async ({ newcomer, page, dev }) => {
    await page.goto(dev.url)
    await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
    await clean(page, 'sign-in')

    const ada = await newcomer('Ada Axe')
    const kofi = callerOf(dev, 'kofi')
    const topic = unique('markup')
    const id = await makeChannel(dev, unique('axe'), [ada, kofi])
    for (const text of EVERYTHING) await kofi.send(id, topic, text)
    await kofi.call('POST', 'messages', { type: 'direct', to: [ada.user.user_id], content: 'Hello' })
    const own = await ada.send(id, topic, 'Mine')
    await ada.call('PATCH', `messages/${own}`, { content: 'Mine, changed' })
    await ada.call('POST', `messages/${own}/reactions`, { emoji_name: 'tada' })
    await kofi.call('POST', `messages/${own}/reactions`, { emoji_name: 'heart' })
    await waiting(ada, id)
    await allClean(ada, placeViews)

    const talk = new TalkPage(ada.page)
    await ada.go(`#narrow/channel/${id}/topic/${topic}`)
    await talk.sees('Mine, changed')
    await clean(ada.page, 'a topic')
    await talk.message('Mine, changed').hover()
    await talk.message('Mine, changed').getByRole('button', { name: 'More' }).click()
    await expect(ada.page.getByRole('menu')).toBeVisible()
    await clean(ada.page, "a message's menu")
    await ada.page.keyboard.press('Escape')
    await ada.page.keyboard.press('?')
    await expect(ada.page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible()
    await clean(ada.page, 'the short cuts')
    await ada.page.keyboard.press('Escape')
    await ada.page.keyboard.press('Control+k')
    await ada.page.getByRole('combobox', { name: /Find a place/ }).fill('a')
    await expect(ada.page.getByRole('option').first()).toBeVisible()
    await clean(ada.page, 'the palette')
    await ada.page.keyboard.press('Escape')
    await ada.go('#narrow/search/changed')
    await talk.sees('Mine, changed')
    await clean(ada.page, 'a search')
})

test('settings, the organization and channels', async ({ newcomer, dev }) => {
    const ada = await newcomer('Ada Owner', { role: 100 })
    const name = unique('axe')
    const id = await makeChannel(dev, name, [ada])
    await ada.call('POST', 'user_groups/create', {
        name: unique('group'),
        description: 'Some of us',
        members: [ada.user.user_id],
    })
    await ada.call('POST', 'invites/multiuse', {})
    await ada.go('#inbox')
    await allClean(ada, [...settingsViews, channelView(id, name)])
})

async function waiting(person: Person, channelId: number): Promise<void> {
    const now = Math.floor(Date.now() / 1000)
    await person.call('POST', 'scheduled_messages', {
        type: 'channel',
        to: channelId,
        topic: 'later',
        content: 'Not yet',
        scheduled_delivery_timestamp: now + 86_400,
    })
    await person.call('POST', 'drafts', {
        drafts: [{ type: 'stream', to: [channelId], topic: 'half', content: 'Half a', timestamp: now }],
    })
}
