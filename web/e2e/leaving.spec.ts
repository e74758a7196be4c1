/** Whoever signs out leaves nothing in the browser that the next one at it could read. */
import { callerOf, expect, makeChannel, test, unique } from './people'
import { TalkPage } from './talk-page'

test('where somebody was and what they wrote last is not in the browser any more once they have signed out', async ({
    newcomer,
    dev,
}) => {
    const mara = await newcomer('Mara Leaving')
    const kofi = callerOf(dev, 'kofi')
    const channel = await makeChannel(dev, unique('leaving'), [mara, kofi])
    const topic = unique('takeover')
    await kofi.send(channel, topic, 'Not a word to anybody')
    const { page } = mara
    const talk = new TalkPage(page)
    await page.goto(`${dev.url}/#narrow/channel/${channel}/topic/${topic}`)
    await talk.sees('Not a word to anybody')
    const text = unique('half a thought')
    await talk.box.fill(text)
    await page.getByRole('button', { name: 'Menu', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
    const left = await page.evaluate(() => Object.entries(localStorage).flat().join('\n'))
    expect(left).not.toContain(topic)
    expect(left).not.toContain(text)
    const kept = async () => (await mara.call('GET', 'drafts'))['drafts']
    await expect.poll(kept).toEqual([expect.objectContaining({ content: text })])
})
