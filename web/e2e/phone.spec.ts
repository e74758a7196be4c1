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

    await tab('Direct').tap()
    await fits(page)
    await places.getByRole('link', { name: /Kofi Mensah/ }).tap()
    await talk.sees('Psst')
    await fits(page)

    await tab('Search').tap()
    const field = page.getByRole('combobox', { name: /Find a place/ })
    await expect(field).toBeFocused()
    await fits(page)
    await field.fill('Sent from a bus')
    await page.getByRole('option', { name: /Search messages for/ }).tap()
    await talk.sees('Sent from a bus')
    await fits(page)

    await tab('You').tap()
    await expect(page.getByRole('heading', { name: 'Settings' })).toBeVisible()
    await fits(page)
    await tab('Inbox').tap()
    await expect(page.getByRole('heading', { name: 'Inbox' })).toBeVisible()
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
