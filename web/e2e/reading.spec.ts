/** What messages hold and what one does with them: both people see it. And what is unread: found, read, and made unread again. */
import { callerOf, channelOf, expect, makeChannel, test, unique } from './people'
import { TalkPage } from './talk-page'

test('a spoiler, a formula, a poll, the versions of a message and who has read it', async ({ person, dev }) => {
    const [ines, kofi] = [await person('ines'), await person('kofi')]
    const general = channelOf(dev, 'general')
    const topic = unique('contents')
    await ines.send(general, topic, '```spoiler The end\nThe cat did it.\n```')
    await ines.send(general, topic, 'As $$\\frac{a}{b}$$ shows')
    await ines.send(general, topic, '/poll Lunch?\nSoup\nBread')
    const edited = await ines.send(general, topic, 'Meet at nine')
    await ines.call('PATCH', `messages/${edited}`, { content: 'Meet at **ten**' })
    const [hers, his] = [new TalkPage(ines.page), new TalkPage(kofi.page)]
    await Promise.all([ines, kofi].map((each) => each.go(`#narrow/channel/${general}/topic/${topic}`)))
    await Promise.all([hers.sees('Meet at ten'), his.sees('Meet at ten')])

    const secret = kofi.page.getByText('The cat did it.')
    await expect(secret).toBeHidden()
    await kofi.page.getByRole('button', { name: 'The end' }).click()
    await expect(secret).toBeVisible()
    await expect(his.message('shows').locator('.katex-html .mfrac')).toBeVisible()

    const option = (page: TalkPage, name: RegExp) => page.message('Lunch?').getByRole('button', { name })
    await option(hers, /^Soup/).click()
    await expect(option(his, /^Soup/)).toContainText('1')
    await his.message('Lunch?').getByRole('textbox', { name: 'Add an option' }).fill('Rice')
    await kofi.page.keyboard.press('Enter')
    await option(hers, /^Rice/).click()
    await expect(option(his, /^Rice/)).toHaveAttribute('aria-pressed', 'false')
    await expect(option(his, /^Rice/)).toContainText('1')
    await expect(option(hers, /^Rice/)).toHaveAttribute('aria-pressed', 'true')

    await his.message('Meet at ten').getByRole('button', { name: 'edited' }).click()
    const history = kofi.page.getByRole('dialog', { name: 'Edit history' })
    await expect(history.getByRole('listitem')).toHaveText([/Inés Aldecoa.*ten/s, /Inés Aldecoa.*original.*nine/s])
    await kofi.page.keyboard.press('Escape')
    await expect(history).toHaveCount(0)

    await hers.choose('Meet at ten', 'Read by')
    const receipts = ines.page.getByRole('dialog', { name: 'Read by' })
    await expect(receipts).toContainText('Kofi Mensah')
})

test('a formula is drawn in its own message, over nobody else’s words nor its sender’s name', async ({
    person,
    dev,
}) => {
    const [ines, kofi] = [await person('ines'), callerOf(dev, 'kofi')]
    const general = channelOf(dev, 'general')
    const topic = unique('formula')
    await ines.send(general, topic, 'I never agreed to that.')
    const cover = String.raw`\smash[t]{\raisebox{8em}{\rule{20em}{7em}}}`
    for (const tex of [cover, `x\\tag*{$${cover}$}`]) await kofi.send(general, topic, '```math\n' + tex + '\n```')
    await ines.go(`#narrow/channel/${general}/topic/${topic}`)
    await expect(ines.page.locator('.katex-html > :is(.base, .tag)')).toHaveCount(3)

    const strays = () => {
        const found: string[] = []
        for (let y = 60; y < innerHeight; y += 5)
            for (let x = 300; x < innerWidth; x += 20) {
                const body = document.elementFromPoint(x, y)?.closest('.katex')?.closest('.message-body')
                const { top = y, bottom = y } = body?.getBoundingClientRect() ?? {}
                if (y < top - 8 || y > bottom + 8) found.push(`${x} ${y}`)
            }
        return found
    }
    expect(await ines.page.evaluate(strays)).toEqual([])
})

test('letters with hundreds of marks are drawn in their own message, over nobody else’s words', async ({
    person,
    dev,
}) => {
    const [ines, kofi] = [await person('ines'), callerOf(dev, 'kofi')]
    const general = channelOf(dev, 'general')
    const topic = unique('marks')
    await ines.send(general, topic, 'I never agreed to that.')
    await ines.go(`#narrow/channel/${general}/topic/${topic}`)
    const own = ines.page.locator('.message-body').filter({ hasText: 'I never agreed to that.' })
    await expect(own).toBeVisible()
    const before = await own.screenshot()
    const letter = 'a' + Array.from({ length: 400 }, (_, at) => String.fromCodePoint(0x300 + (at % 20))).join('')
    await kofi.send(general, topic, Array.from({ length: 20 }, () => letter).join(' '))
    await kofi.send(general, topic, 'The end')
    await expect(ines.page.locator('.message-body').filter({ hasText: 'The end' })).toBeVisible()
    expect((await own.screenshot()).equals(before)).toBe(true)
})

test('one comes to the first unread message, reads to the end, and marks unread from where one was', async ({
    newcomer,
    dev,
}) => {
    const uma = await newcomer('Uma Unread')
    const kofi = callerOf(dev, 'kofi')
    const channel = await makeChannel(dev, unique('long'), [uma, kofi])
    const topic = unique('story')
    const text = (number: number) => `Verse ${number}.`
    // So long and so many that what is loaded at either end does not reach the other.
    const long = 'la '.repeat(200)
    for (let number = 1; number <= 75; number += 1)
        await kofi.send(channel, topic, `${text(number)}\n\n${number < 70 ? long : 'la'}\n\nla`)
    const { page } = uma
    const talk = new TalkPage(page)
    const line = page.getByRole('separator').filter({ hasText: 'Unread' })
    const inbox = page.getByRole('main').getByRole('link', { name: topic })

    await uma.go('#inbox')
    await expect(inbox).toContainText('75')
    await inbox.click()
    await expect(talk.message(text(1))).toBeInViewport()
    await expect(talk.message(text(75))).not.toBeInViewport()
    await page.keyboard.press('End')
    await expect(talk.message(text(75))).toBeInViewport()
    await expect(line).toHaveCount(0)
    await page.keyboard.press('Shift+G')
    await expect(line).toBeInViewport()
    await expect(talk.message(text(1))).toBeInViewport()

    await page.getByRole('button', { name: 'More' }).first().click()
    await page.getByRole('menuitem', { name: 'Mark all as read' }).click()
    await page.keyboard.press('End')
    await expect(talk.message(text(73))).toBeInViewport()
    await talk.choose(text(73), 'Mark as unread from here')
    await expect(page.getByText('Marked as unread from here.')).toBeVisible()
    await uma.go('#inbox')
    await expect(inbox).toContainText('3')
    await inbox.click()
    await expect(line).toBeInViewport()
    await expect(page, 'read as it was seen').not.toHaveTitle(/^\(/)
    await uma.go('#inbox')
    await expect(page.getByRole('heading', { name: 'You’re all caught up' })).toBeVisible()
})

test('every message says when it was sent: to who points at it, to who comes by keyboard, and to who listens', async ({
    newcomer,
    dev,
}) => {
    const uma = await newcomer('Uma When')
    const kofi = callerOf(dev, 'kofi')
    const channel = await makeChannel(dev, unique('clock'), [uma, kofi])
    for (const text of ['First word', 'Second word', 'Third word']) await kofi.send(channel, 'times', text)
    const { page } = uma
    const talk = new TalkPage(page)
    await uma.go(`#narrow/channel/${channel}/topic/times`)
    const [second, third] = [talk.message('Second word'), talk.message('Third word')]
    await expect(second.locator('time')).toHaveCSS('opacity', '0')
    await second.hover()
    await expect(second.locator('time')).toHaveCSS('opacity', '1')
    await expect(second.locator('time')).toHaveText(/^\s*\d{1,2}:\d\d/)
    await expect(second).toHaveAccessibleName(/^Kofi Mensah, /)
    await page.mouse.move(0, 0)
    await second.focus()
    await page.keyboard.press('ArrowDown')
    await expect(third).toBeFocused()
    await expect(third.locator('time')).toHaveCSS('opacity', '1')
    await expect(second.locator('time')).toHaveCSS('opacity', '0')
})
