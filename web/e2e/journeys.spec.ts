/** Addresses: every place has one, that works by itself, through the door, and back and forth. */
import { callerOf, expect, makeChannel, newcomerTo, test, unique, Caller } from './people'
import { TalkPage } from './talk-page'
import { channelView, placeViews, settingsViews, type View } from './views'

test('every place is found by its address, and back and forward lead through them', async ({ newcomer, dev }) => {
    const jon = await newcomer('Jon Journey', { role: 100 })
    const kofi = callerOf(dev, 'kofi')
    const [name, topic, word] = [unique('way'), unique('stop'), unique('lighthouse')]
    const channel = await makeChannel(dev, name, [jon, kofi])
    const id = await kofi.send(channel, topic, `@**Jon Journey|${jon.user.user_id}** see the ${word}`)
    await jon.call('POST', 'messages/flags', { messages: [id], op: 'add', flag: 'starred' })
    await kofi.call('POST', 'messages', { type: 'direct', to: [jon.user.user_id], content: `About the ${word}` })
    const { page } = jon
    const talk = (hash: string): View => ({ hash, ready: () => new TalkPage(page).message(word) })
    const views = [
        ...placeViews.filter((view) => view.hash !== '#feed'),
        talk('#feed'),
        talk(`#narrow/channel/${channel}-${name}`),
        talk(`#narrow/channel/${channel}-${name}/topic/${topic}/near/${id}`),
        talk(`#narrow/dm/${kofi.user.user_id}`),
        ...['dm', 'mentioned', 'starred'].map((what) => talk(`#narrow/is/${what}`)),
        talk(`#narrow/search/${word}`),
        // They are alike, and all of them are visited by phone.spec.ts.
        ...settingsViews.filter((_, index) => index % 3 === 0),
        channelView(channel, name),
    ]
    const at = async (view: View) => {
        await expect(view.ready(page), view.hash).toBeVisible()
        expect(new URL(page.url()).hash.split('?')[0], 'its address stays').toBe(view.hash)
    }
    for (const view of views) {
        await jon.go(view.hash)
        await at(view)
    }
    for (const view of views.toReversed().slice(1)) {
        await page.goBack()
        await at(view)
    }
    await page.goForward()
    await at(views[1] as View)
    await jon.go('#narrow/channel/999999/topic/nowhere')
    await expect(page.getByRole('alert')).toContainText('You can’t see this')
    await expect(new TalkPage(page).box).toHaveCount(0)
    await page.getByRole('alert').getByRole('link').click()
    await at(views[0] as View)
    // By itself: the page is loaded there.
    for (const view of views.filter((each) => /near|settings\/profile|search/.test(each.hash))) {
        await page.goto('about:blank')
        await page.goto(`${dev.url}/${view.hash}`)
        await at(view)
    }
})

test('through the door by an identity provider, one comes to where one wanted to go', async ({
    page,
    dev,
    request,
}) => {
    const ola = new Caller(dev, await newcomerTo(dev, 'Ola Elsewhere'))
    const channel = await makeChannel(dev, unique('door'), [ola])
    const topic = unique('behind')
    await ola.send(channel, topic, 'Come in')
    const subject = unique('ola')
    await request.put(`${dev.provider}/users/${subject}`, {
        data: { email: ola.user.email, email_verified: true, name: 'Ola Elsewhere' },
    })
    const address = `${dev.url}/#narrow/channel/${channel}/topic/${topic}`
    await page.goto(address)
    await page.getByRole('link', { name: 'Continue with Example' }).click()
    await page.getByPlaceholder('sub').fill(subject)
    await page.getByRole('button', { name: 'Authorize' }).click()
    await new TalkPage(page).sees('Come in')
    await expect(page).toHaveURL(address)
})
