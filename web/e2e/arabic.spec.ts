/** In Arabic: the page runs from right to left, as a whole, and nothing in it is hard to read, cut or in the wrong place. */
import { COLOURS, complaints } from './complaints'
import { callerOf, expect, makeChannel, type Person, test, unique } from './people'
import { stickingOut } from './sticking-out'
import { TalkPage } from './talk-page'
import { channelView, placeViews, settingsViews } from './views'
import places from '../src/words/ar/places.json' with { type: 'json' }
import talkWords from '../src/words/ar/talk.json' with { type: 'json' }
import ui from '../src/words/ar/ui.json' with { type: 'json' }

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }

async function inArabic(person: Person): Promise<Person> {
    await person.call('PATCH', 'settings', { default_language: 'ar' })
    return person
}

test('the page speaks Arabic before and after signing in, and runs from right to left', async ({
    browser,
    dev,
    newcomer,
}) => {
    const context = await browser.newContext({ baseURL: dev.url, locale: 'ar-EG' })
    const page = await context.newPage()
    await page.goto('/')
    await expect(page.getByRole('button', { name: ui['signin.submit'], exact: true })).toBeVisible()
    await expect(page.locator('html')).toHaveAttribute('dir', 'rtl')
    await context.close()

    const amal = await inArabic(await newcomer('Amal Arabic'))
    const topic = unique('topic')
    const id = await makeChannel(dev, unique('arabic'), [amal, callerOf(dev, 'kofi')])
    await callerOf(dev, 'kofi').send(id, topic, 'A line in English.')
    await amal.go(`#narrow/channel/${id}/topic/${topic}`)
    const talk = new TalkPage(amal.page)
    await talk.sees('A line in English.')
    await expect(amal.page.locator('html')).toHaveAttribute('lang', 'ar')

    // The side bar is where lines begin: on the right. What somebody wrote runs as its letters do.
    const bar = await amal.page.getByRole('navigation', { name: ui['shell.places'], exact: true }).boundingBox()
    const list = await amal.page.getByRole('log').boundingBox()
    expect(bar!.x).toBeGreaterThan(list!.x)
    const said = amal.page.getByText('A line in English.')
    expect(await said.evaluate((element) => getComputedStyle(element).direction)).toBe('ltr')

    const box = amal.page.getByRole('combobox', { name: talkWords['compose.label'] })
    await box.fill('سطر بالعربية')
    expect(await box.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl')
    await box.press('Control+Enter')
    await talk.sees('سطر بالعربية')
    await amal.go('#inbox')
    await expect(amal.page.getByRole('heading', { level: 1, name: places['places.inbox'] })).toBeVisible()
})

test('every page in Arabic is as clean as in English, and fits a phone', async ({ newcomer, dev }) => {
    const amal = await inArabic(await newcomer('Amal Owner', { role: 100, ...PHONE }))
    const name = unique('arabic')
    const id = await makeChannel(dev, name, [amal])
    for (const { hash } of [...placeViews, ...settingsViews, channelView(id, name)]) {
        await amal.go(hash)
        await expect(amal.page.getByRole('main').getByRole('heading').first()).toBeVisible()
        await expect(amal.page.locator('html')).toHaveAttribute('dir', 'rtl')
        await amal.page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
        expect.soft(await complaints(amal.page, null), hash).toEqual([])
        await amal.page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
        expect.soft(await complaints(amal.page, COLOURS), `${hash}, dark`).toEqual([])
        expect.soft(await stickingOut(amal.page), hash).toEqual([])
    }
})
