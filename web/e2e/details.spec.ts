/** Small things that people trip over: where the caret is, what a drop does, what a search understands, what is cut or far away. */
import type { Page } from '@playwright/test'
import { expect, makeChannel, ownerOf, test, unique } from './people'
import { PICTURE } from './pictures'
import { TalkPage } from './talk-page'

const WIDE_TABLE = `|${'measurement|'.repeat(14)}\n|${'---|'.repeat(14)}\n|${'approximately|'.repeat(14)}`

/** A file dragged from elsewhere and let go over what `selector` names; whether the page took it. */
async function drop(page: Page, selector: string, name: string): Promise<boolean> {
    return page.locator(selector).evaluate((target, file) => {
        const dataTransfer = new DataTransfer()
        dataTransfer.items.add(new File(['some words'], file, { type: 'text/plain' }))
        const event = (type: string) => new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer })
        target.dispatchEvent(event('dragover'))
        return !target.dispatchEvent(event('drop'))
    }, name)
}

test('the caret is where one writes: after a correction, a drop, and c anywhere', async ({ newcomer, dev }) => {
    const nora = await newcomer('Nora Writes', { colorScheme: 'dark' })
    const { page } = nora
    const channel = await makeChannel(dev, unique('desk'), [nora])
    await nora.send(channel, 'pens', 'The blue ones leek')
    await nora.go(`#narrow/channel/${channel}/topic/pens`)
    const talk = new TalkPage(page)
    await talk.sees('The blue ones leek')
    await talk.box.press('ArrowUp')
    await page.getByRole('combobox', { name: 'Edit message' }).fill('The blue ones leak')
    await page.keyboard.press('Control+Enter')
    await talk.sees('The blue ones leak')
    await expect(talk.box).toBeFocused()

    await page.keyboard.type('Well :smil')
    const offered = page.getByRole('option')
    await expect(offered.first()).toContainText(':smile:')
    const [chosen, other] = await offered.evaluateAll((all) =>
        all.slice(0, 2).map((each) => getComputedStyle(each).outlineStyle),
    )
    expect([chosen, other], 'what is chosen is seen in the dark').toEqual(['solid', 'none'])
    await page.keyboard.press('Enter')
    await expect(talk.box).toHaveValue('Well :smile: ')

    const [taken, stray] = [`${unique('taken')}.txt`, `${unique('stray')}.txt`]
    expect(await drop(page, 'nav.places', stray), 'nothing opens in the tab').toBe(true)
    expect(await drop(page, 'article[data-message]', taken)).toBe(true)
    await expect(talk.box).toHaveValue(/taken-.*user_uploads/)
    await expect(talk.box).not.toHaveValue(/stray/)

    for (const place of ['#inbox', '#feed']) {
        await nora.go(place)
        await expect(page.locator('#talk h1')).toHaveText(place === '#feed' ? 'Combined feed' : 'Inbox')
        await page.locator('#talk').focus()
        await page.keyboard.press('c')
        await expect(page.getByRole('combobox', { name: 'Channel', exact: true })).toBeFocused()
    }
})

test('a search takes part of a name, begins with the newest, and says whom it does not know', async ({
    newcomer,
    dev,
}) => {
    const first = unique('Léonie')
    const [sam, leonie] = [await newcomer('Sam Searches'), await newcomer(`${first} Fournier`)]
    const { page } = sam
    const channel = await makeChannel(dev, unique('harbour'), [sam, leonie])
    for (let number = 1; number <= 40; number++) await leonie.send(channel, 'boats', `Boat ${number}\n\nwith\n\nsails`)
    await sam.go('#inbox')
    await page.getByRole('button', { name: 'Find or search' }).click()
    await page.keyboard.type(`sender:${first} sails`)
    await page.getByRole('option', { name: /Search messages/ }).click()
    await expect(page.getByRole('searchbox', { name: 'Search messages' })).toHaveValue(
        `sender:"${first} Fournier" sails`,
    )
    const talk = new TalkPage(page)
    await expect(talk.message('Boat 40')).toBeInViewport()
    await page.getByRole('searchbox', { name: 'Search messages' }).fill('sender:Nobodyatall sails')
    await page.keyboard.press('Enter')
    await expect(page.getByText('No one here is called Nobodyatall.')).toBeVisible()
})

test('words stay whole, hours are told as one wants, names stand in line, and people are found at 1024 px', async ({
    newcomer,
    dev,
}) => {
    const nils = await newcomer('Nils Reads', { viewport: { width: 1024, height: 768 } })
    const { page } = nils
    const arabic = `فريق ${unique('t')}`
    const channel = await makeChannel(dev, arabic, [nils])
    await ownerOf(dev).call('PATCH', `streams/${channel}`, {
        description: 'All **sizes**, see [here](https://example.com)',
    })
    await nils.call('PATCH', 'settings', { twenty_four_hour_time: true })
    await nils.send(channel, 'الموضوع', `<time:2026-03-10T14:05:00+01:00>\n\n${WIDE_TABLE}`)
    await nils.go(`#narrow/channel/${channel}`)
    await expect(page.locator('#talk header').first()).toContainText('All sizes, see here')
    await nils.go(`#narrow/channel/${channel}/topic/${encodeURIComponent('الموضوع')}`)
    const talk = new TalkPage(page)
    await expect(talk.list.locator('.message-body time')).toHaveText(/14:05/)
    const cell = page.getByRole('cell').first()
    const oneLine = await cell.evaluate((each) => each.getBoundingClientRect().height < 48)
    expect(oneLine, 'a word is not broken').toBe(true)
    const frame = page.getByRole('group', { name: 'Table' })
    expect(await frame.evaluate((each) => each.scrollWidth > each.clientWidth)).toBe(true)
    await expect(talk.box).toHaveAttribute('placeholder', `Message \u2068#${arabic}\u2069 › \u2068الموضوع\u2069`)
    const row = page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: arabic })
    const gap = await row.evaluate((link) => {
        const range = document.createRange()
        range.selectNodeContents(link.querySelector('bdi') as Element)
        return range.getBoundingClientRect().left - link.getBoundingClientRect().left
    })
    expect(gap, 'a name in Arabic begins beside its dot').toBeLessThan(48)

    const people = page.getByRole('complementary', { name: 'People' })
    await expect(people).toHaveCount(0)
    await page.getByRole('button', { name: 'Show people' }).click()
    await expect(people.getByText('Nils Reads')).toBeVisible()
    await page.getByRole('button', { name: 'Hide people' }).focus()
    await page.keyboard.press('Escape')
    await expect(people).toHaveCount(0)

    await page.route('**/api/v1/events?*', (route) => route.abort())
    await nils.send(channel, 'الموضوع', 'This ends the poll that was under way')
    await expect(page.getByText('The server isn’t responding.')).toBeVisible()
    await page.unroute('**/api/v1/events?*')
    await page.setViewportSize({ width: 390, height: 844 })
    const size = await talk.box.evaluate((each) => Number.parseFloat(getComputedStyle(each).fontSize))
    expect(size, 'a phone does not zoom in').toBeGreaterThanOrEqual(16)
})

test('an owner names the server for calls, the day of the mail and an emoji; where the web is shut out, nothing offers it', async ({
    newcomer,
    page: visitor,
    dev,
}) => {
    const olga = await newcomer('Olga Details', { role: 100 })
    const { page } = olga
    await visitor.goto(dev.url)
    await expect(visitor.getByLabel('Email')).toBeVisible()
    await expect(visitor.getByRole('link', { name: 'Create an account' })).toHaveCount(0)
    await olga.go('#organization')
    const server = page.getByLabel('Video call server')
    await server.fill('not an address')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByText('That’s not the address of a server')).toBeVisible()
    await server.fill('https://meet.example.com')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByRole('button', { name: 'Save' })).toHaveCount(0)
    await page.getByRole('switch', { name: 'Weekly email' }).click()
    await page.getByLabel('Day of the weekly email').selectOption('Friday')
    await expect(page.getByLabel('Day of the weekly email')).toHaveValue('Friday')

    await expect(page.getByRole('switch', { name: 'Channels can be made public on the web' })).toHaveCount(0)
    await olga.go('#organization/joining')
    await expect(page.getByRole('switch', { name: 'People can only join by invitation' })).toBeVisible()
    await olga.go('#channels/new')
    await expect(page.getByRole('radio')).toHaveCount(3)
    await expect(page.getByText('without an account')).toHaveCount(0)

    await olga.go('#organization/emoji')
    const name = unique('square').replaceAll('-', '_')
    await page.getByLabel('Name', { exact: true }).fill(name)
    const chooser = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Choose a picture' }).click()
    await (await chooser).setFiles({ name: 'square.png', mimeType: 'image/png', buffer: PICTURE })
    await expect(page.getByText('square.png')).toBeVisible()
    await page.getByRole('button', { name: 'Add' }).click()
    await expect(page.getByRole('listitem').filter({ hasText: `:${name}:` })).toBeVisible()

    await olga.call('PATCH', 'realm', { invite_required: false })
    await visitor.reload()
    await visitor.getByRole('link', { name: 'Create an account' }).click()
    await expect(visitor.getByRole('heading', { name: /Join/ })).toBeVisible()
    await olga.call('PATCH', 'realm', {
        invite_required: true,
        jitsi_server_url: 'default',
        digest_weekday: 1,
        digest_emails_enabled: false,
    })
})
