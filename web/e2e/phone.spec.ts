/** With a thumb, on a small screen: the bar at the bottom leads everywhere, and nothing sticks out. */
import type { Page } from '@playwright/test'
import { callerOf, expect, makeChannel, test, unique } from './people'
import { stickingOut } from './sticking-out'
import { TalkPage } from './talk-page'
import { channelView, placeViews, settingsViews } from './views'

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

const fits = async (page: Page) => expect.soft(await stickingOut(page), page.url()).toEqual([])

test('with a thumb: the five places, a topic, a message, and back', async ({ newcomer, dev }) => {
    const petra = await newcomer('Petra Phone', PHONE)
    const kofi = callerOf(dev, 'kofi')
    const [channel, topic] = [unique('a-channel-with-a-rather-long-name'), unique('and-a-topic-that-is-long-as-well')]
    const id = await makeChannel(dev, channel, [petra, kofi])
    await kofi.send(id, topic, 'A_word_without_any_place_to_break_it_is_the_hardest_for_a_small_screen_to_show')
    await kofi.call('POST', 'messages', { type: 'direct', to: [petra.user.user_id], content: 'Psst' })
    const { page } = petra
    const talk = new TalkPage(page)
    const bar = page.getByRole('navigation', { name: 'Main navigation' })
    const places = page.getByRole('navigation', { name: 'Places', exact: true })
    const tab = (name: string) => bar.getByRole('button', { name: new RegExp(`^${name}`) })

    await petra.go('')
    await expect(page.getByRole('heading', { name: 'Inbox' })).toBeVisible()
    await expect(tab('Inbox')).toHaveAttribute('aria-current', 'page')
    await expect(places).toBeHidden()
    await fits(page)

    await tab('Channels').tap()
    await fits(page)
    await places.getByRole('link', { name: channel }).tap()
    await talk.sees('A_word_without')
    await expect(places).toBeHidden()
    await fits(page)
    await page.getByRole('log').getByRole('link', { name: topic }).tap()
    await expect(page).toHaveURL(/topic/)
    await talk.sees('A_word_without')

    await talk.box.tap()
    await talk.box.fill('Sent from a bus')
    await page.getByRole('button', { name: 'Send', exact: true }).tap()
    await talk.sees('Sent from a bus')
    await expect(talk.outgoing).toHaveCount(0)
    await expect(talk.box).toHaveValue('')
    await fits(page)
    expect(await kofi.texts(id, topic)).toContain('Sent from a bus')

    await page.getByRole('button', { name: 'Back' }).tap()
    await expect(places.getByRole('link', { name: 'Inbox' })).toBeVisible()
    await fits(page)
    // To the very place one came from.
    await places.getByRole('link', { name: topic }).tap()
    await talk.sees('Sent from a bus')
    await expect(bar, 'a conversation has the whole screen').toBeHidden()

    await page.getByRole('button', { name: 'Back' }).tap()
    await tab('Direct').tap()
    await fits(page)
    await places.getByRole('link', { name: /Kofi Mensah/ }).tap()
    await talk.sees('Psst')
    await fits(page)
    await page.getByRole('button', { name: 'Back' }).tap()

    await tab('Search').tap()
    const field = page.getByRole('combobox', { name: /Find a place/ })
    await expect(field).toBeFocused()
    await fits(page)
    await field.fill('Sent from a bus')
    await page.getByRole('option', { name: /Search messages for/ }).tap()
    await talk.sees('Sent from a bus')
    await fits(page)

    await tab('You').tap()
    const menu = page.getByRole('menu', { name: 'You' })
    await expect(menu).toBeVisible()
    await fits(page)
    await menu.getByRole('menuitem', { name: 'Settings', exact: true }).tap()
    await expect(page.getByRole('heading', { name: 'Settings' })).toBeVisible()
    await expect(menu).toBeHidden()
    await fits(page)
    await tab('Inbox').tap()
    await expect(page.getByRole('heading', { name: 'Inbox' })).toBeVisible()
})

test('You leads to everything of one’s own', async ({ newcomer }) => {
    const petra = await newcomer('Petra Yours', PHONE)
    const { page } = petra
    await petra.go('#inbox')
    const you = page.getByRole('navigation', { name: 'Main navigation' }).getByRole('button', { name: 'You' })
    const menu = page.getByRole('menu', { name: 'You' })
    const choose = async (item: string) => {
        await you.tap()
        await menu.getByRole('menuitem', { name: item, exact: true }).tap()
    }
    for (const [item, hash] of [
        ['Your profile and status', '#settings/profile'],
        ['Drafts', '#drafts'],
        ['Scheduled', '#scheduled'],
        ['Reminders', '#scheduled'],
        ['Starred', '#narrow/is/starred'],
        ['Settings', '#settings'],
        ['Organization', '#organization'],
    ] as const) {
        await choose(item)
        await expect(page).toHaveURL(new RegExp(`${hash}(/|$)`))
    }
    await you.tap()
    await menu.getByRole('menuitemcheckbox', { name: 'Dark theme' }).tap()
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
    await you.tap()
    await expect(menu.getByRole('menuitemcheckbox', { name: 'Dark theme' })).toBeChecked()
    await menu.getByRole('menuitem', { name: 'Sign out' }).tap()
    await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
})

/** A finger from here, so far, in small steps. */
async function swipe(page: Page, from: { x: number; y: number }, by: { x: number; y: number }): Promise<void> {
    const devtools = await page.context().newCDPSession(page)
    const STEPS = 8
    const at = (step: number) => [{ x: from.x + (by.x * step) / STEPS, y: from.y + (by.y * step) / STEPS }]
    await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0) })
    for (let step = 1; step <= STEPS; step += 1)
        await devtools.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(step) })
    await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    await devtools.detach()
}

test('a swipe on a message replies, one the other way goes back, and what goes up or down scrolls', async ({
    newcomer,
    dev,
}) => {
    const petra = await newcomer('Petra Swipes', PHONE)
    const kofi = callerOf(dev, 'kofi')
    const [name, topic] = [unique('gestures'), unique('fingers')]
    const channel = await makeChannel(dev, name, [petra, kofi])
    for (let number = 1; number <= 12; number += 1)
        await kofi.send(channel, topic, `Line ${number}.\n\n${'la '.repeat(60)}`)
    await kofi.send(channel, topic, '```\n' + 'wide '.repeat(60) + '\n```')
    await kofi.send(channel, topic, 'The last line')
    await petra.call('POST', 'mark_all_as_read')
    const { page } = petra
    const talk = new TalkPage(page)
    const places = page.getByRole('navigation', { name: 'Places', exact: true })
    const middle = async (text: string) => {
        const box = await talk.message(text).boundingBox()
        return { x: 200, y: (box?.y ?? 0) + (box?.height ?? 0) / 2 }
    }
    await petra.go(`#narrow/channel/${channel}/topic/${topic}`)
    await expect(talk.message('The last line')).toBeInViewport()
    await fits(page)

    // Up and down is the browser's, aslant too, however far.
    const scrolled = () => talk.list.evaluate((list) => list.scrollTop)
    const before = await scrolled()
    await swipe(page, { x: 200, y: 300 }, { x: 60, y: 280 })
    await expect.poll(scrolled).toBeLessThan(before - 100)
    await expect(talk.list).toBeVisible()
    await expect(talk.box).not.toBeFocused()
    // The list goes on by itself for a while when the finger has left it, and would take the last line away again.
    const atTheEnd = async () => {
        await talk.list.evaluate((list) => list.scrollTo(0, list.scrollHeight))
        await page.waitForTimeout(200)
        return talk.list.evaluate((list) => list.scrollHeight - list.clientHeight - list.scrollTop)
    }
    await expect.poll(atTheEnd).toBeLessThan(1)
    await expect(talk.message('The last line')).toBeInViewport({ ratio: 1 })

    // Too short is nothing, and what is wide moves by itself.
    await swipe(page, await middle('The last line'), { x: -40, y: 0 })
    await expect(talk.message('The last line')).toHaveCSS('transform', 'none')
    await swipe(page, await middle('wide wide'), { x: -150, y: 0 })
    await expect(talk.box).not.toBeFocused()

    await swipe(page, await middle('The last line'), { x: -120, y: 4 })
    await expect(talk.box).toBeFocused()
    await expect(talk.message('The last line')).toHaveCSS('transform', 'none')
    await fits(page)
    await expect(places).toBeHidden()

    await swipe(page, await middle('The last line'), { x: 140, y: -4 })
    await expect(places.getByRole('link', { name: topic })).toBeVisible()
    await expect(talk.list).toBeHidden()
    await fits(page)
})

test('a talk is where it was after one has looked at the places', async ({ newcomer, dev }) => {
    const petra = await newcomer('Petra Place', PHONE)
    const kofi = callerOf(dev, 'kofi')
    const topic = unique('story')
    const channel = await makeChannel(dev, unique('verses'), [petra, kofi])
    for (let number = 1; number <= 75; number += 1)
        await kofi.send(channel, topic, `Verse ${number}.\n\n${'la '.repeat(150)}`)
    await petra.call('POST', 'mark_all_as_read')
    const { page } = petra
    const talk = new TalkPage(page)
    const places = page.getByRole('navigation', { name: 'Places', exact: true })
    const lookAtPlaces = async () => {
        await page.getByRole('button', { name: 'Back' }).tap()
        await expect(talk.list).toBeHidden()
        await places.getByRole('link', { name: topic }).tap()
        await expect(talk.list).toBeVisible()
    }
    /** The first whole message on the screen, and how far down it is. */
    const reading = () =>
        talk.list.evaluate((list) => {
            const down = (row: Element) => row.getBoundingClientRect().top - list.getBoundingClientRect().top
            const row = [...list.querySelectorAll<HTMLElement>('article')].find((each) => down(each) >= 0)
            return { id: row?.dataset['message'], down: row ? down(row) : 0 }
        })

    await petra.go(`#narrow/channel/${channel}/topic/${topic}`)
    await expect(talk.message('Verse 75.')).toBeInViewport()
    await lookAtPlaces()
    await expect(talk.message('Verse 75.'), 'still at the end').toBeInViewport()
    await talk.list.evaluate((list) => list.scrollBy(0, -700))
    await expect(page.getByRole('button', { name: 'newest' })).toBeVisible()
    const before = await reading()
    let fetches = 0
    page.on('request', (request) => (fetches += request.url().includes('anchor=') ? 1 : 0))
    await lookAtPlaces()
    await expect.poll(async () => (await reading()).id).toBe(before.id)
    expect(Math.abs((await reading()).down - before.down)).toBeLessThan(3)
    expect(fetches, 'nothing had to be loaded').toBe(0)
})

test('every other page fits a small screen too', async ({ newcomer, dev }) => {
    const petra = await newcomer('Petra Pages', { ...PHONE, role: 100 })
    const name = unique('small')
    const id = await makeChannel(dev, name, [petra])
    await petra.go('#inbox')
    for (const view of [...placeViews, ...settingsViews, channelView(id, name)]) {
        await petra.go(view.hash)
        await expect(view.ready(petra.page)).toBeVisible()
        await fits(petra.page)
    }
})

test('a tap on a message that follows others of its sender shows when it was sent', async ({ newcomer, dev }) => {
    const petra = await newcomer('Petra Asks when', PHONE)
    const kofi = callerOf(dev, 'kofi')
    const id = await makeChannel(dev, unique('clock'), [petra, kofi])
    for (const text of ['First word', 'Second word', 'Third word']) await kofi.send(id, 'times', text)
    const { page } = petra
    const talk = new TalkPage(page)
    await petra.go(`#narrow/channel/${id}/topic/times`)
    const time = (text: string) => talk.message(text).locator('time')
    await expect(time('Second word')).toHaveCSS('opacity', '0')
    await talk.message('Second word').getByText('Second word').tap()
    await expect(time('Second word')).toHaveCSS('opacity', '1')
    await expect(time('Third word')).toHaveCSS('opacity', '0')
    await fits(page)
    await talk.message('Third word').getByText('Third word').tap()
    await expect(time('Third word')).toHaveCSS('opacity', '1')
    await expect(time('Second word')).toHaveCSS('opacity', '0')
})
