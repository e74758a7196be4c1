/** Two people at two browsers: what one does, the other sees. */
import { channelOf, expect, test, unique } from './people'
import { TalkPage } from './talk-page'

test('two browsers talk, react, edit and move', async ({ person, dev }) => {
    const [ines, kofi] = [await person('ines'), await person('kofi')]
    const general = channelOf(dev, 'general')
    const topic = unique('lunch')
    await ines.send(general, topic, 'Who is hungry?')
    const [hers, his] = [new TalkPage(ines.page), new TalkPage(kofi.page)]
    await Promise.all([ines, kofi].map((each) => each.go(`#narrow/channel/${general}/topic/${topic}`)))
    await Promise.all([hers.sees('Who is hungry?'), his.sees('Who is hungry?')])

    await his.box.pressSequentially('I a')
    await expect(ines.page.getByText('Kofi Mensah is typing')).toBeVisible()
    await his.write('I am, **very**')
    await expect(hers.message('I am, very').locator('strong')).toHaveText('very')
    await expect(his.outgoing).toHaveCount(0)
    await expect(ines.page.getByText('is typing')).toHaveCount(0)

    await hers.react('I am, very', 'tada')
    await expect(his.message('I am, very').getByRole('button', { name: /Inés Aldecoa reacted/ })).toBeVisible()
    await his
        .message('I am, very')
        .getByRole('button', { name: /reacted with/ })
        .click()
    await expect(hers.message('I am, very').getByRole('button', { name: /reacted with/ })).toContainText(
        'You and Kofi Mensah',
    )

    await his.choose('I am, very', 'Edit')
    const edit = kofi.page.getByRole('combobox', { name: 'Edit message' })
    await edit.fill('I am, a little')
    await edit.press('Control+Enter')
    await hers.sees('I am, a little')
    await expect(hers.message('I am, a little').getByText('edited')).toBeVisible()

    const elsewhere = unique('dinner')
    await hers.choose('I am, a little', 'Move')
    const dialog = ines.page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Topic' }).fill(elsewhere)
    await dialog.getByText('Only this message').click()
    await dialog.getByRole('button', { name: 'Move' }).click()
    await expect(his.message('I am, a little')).toHaveCount(0)
    await kofi.go(`#narrow/channel/${general}/topic/${elsewhere}`)
    await his.sees('I am, a little')
})

test('a message is scheduled and delivered, and what was said is found', async ({ person, dev }) => {
    const [ines, kofi] = [await person('ines'), await person('kofi')]
    const general = channelOf(dev, 'general')
    const [topic, word] = [unique('later'), unique('pomegranate')]
    await ines.send(general, topic, `Remember the ${word}.`)
    const page = new TalkPage(ines.page)
    await ines.go(`#narrow/channel/${general}/topic/${topic}`)
    await page.sees(word)

    await page.box.fill('Not now')
    await ines.page.getByRole('button', { name: 'Send later' }).click()
    await ines.page.getByRole('button', { name: /In an hour/ }).click()
    await expect(page.box).toHaveValue('')
    await ines.page.getByRole('button', { name: 'Show', exact: true }).click()
    const waiting = ines.page.getByRole('main').getByRole('listitem').filter({ hasText: 'Not now' })
    await expect(waiting).toContainText(topic)

    const his = new TalkPage(kofi.page)
    await kofi.go(`#narrow/channel/${general}/topic/${topic}`)
    await his.sees(word)
    type Scheduled = { scheduled_message_id: number; topic: string }
    const { scheduled_messages } = await ines.call<{ scheduled_messages: Scheduled[] }>('GET', 'scheduled_messages')
    const [own] = scheduled_messages.filter((each) => each.topic === topic)
    await ines.call('PATCH', `scheduled_messages/${own?.scheduled_message_id}`, {
        scheduled_delivery_timestamp: Math.ceil(Date.now() / 1000) + 1,
    })
    await his.sees('Not now')
    await expect(waiting).toHaveCount(0)

    await ines.go(`#narrow/search/${word.replaceAll('-', '.2D')}`)
    await page.sees(word)
})

test('what is typed survives a reload, and reaches another browser as a draft', async ({ person, dev }) => {
    const first = await person('yuki')
    const general = channelOf(dev, 'general')
    const topic = unique('draft')
    await first.send(general, topic, 'Begin')
    const page = new TalkPage(first.page)
    await first.go(`#narrow/channel/${general}/topic/${topic}`)
    await page.sees('Begin')
    await page.box.fill('Half a thou')
    await first.page.reload()
    await expect(page.box).toHaveValue('Half a thou')
    await expect
        .poll(async () => {
            const { drafts } = await first.call<{ drafts: { content: string; topic: string }[] }>('GET', 'drafts')
            return drafts.filter((draft) => draft.topic === topic).map((draft) => draft.content)
        })
        .toEqual(['Half a thou'])
    const second = await person('yuki')
    await second.go(`#narrow/channel/${general}/topic/${topic}`)
    await expect(new TalkPage(second.page).box).toHaveValue('Half a thou')
})

test('what is typed belongs to its conversation, also when that gets another name', async ({ person, dev }) => {
    const [ines, kofi] = [await person('ines'), await person('kofi')]
    const general = channelOf(dev, 'general')
    const topic = unique('names')
    await ines.send(general, topic, 'Begin')
    const [hers, his] = [new TalkPage(ines.page), new TalkPage(kofi.page)]
    await Promise.all([ines, kofi].map((each) => each.go(`#narrow/channel/${general}/topic/${topic}`)))
    await Promise.all([hers.sees('Begin'), his.sees('Begin')])
    await hers.box.fill('Half a thou')

    await ines.go(`#narrow/channel/${general}`)
    await expect(hers.box).toHaveValue('')
    await ines.go(`#narrow/channel/${general}/topic/${topic}`)
    await expect(hers.box).toHaveValue('Half a thou')

    const menu = kofi.page.locator('header').getByRole('button', { name: 'More' })
    await menu.click()
    await kofi.page.getByRole('menuitem', { name: 'Mark as resolved' }).click()
    await expect(ines.page).toHaveURL(/topic\/\.E2\.9C\.94/)
    await expect(hers.box).toHaveValue('Half a thou')
    await menu.click()
    await kofi.page.getByRole('menuitem', { name: 'Mark as unresolved' }).click()
    await expect(ines.page).not.toHaveURL(/topic\/\.E2\.9C\.94/)
    await expect(hers.box).toHaveValue('Half a thou')
    await hers.write('A whole thought')
    await his.sees('A whole thought')
})

test('Enter answers a message, and presses what is in it', async ({ person, dev }) => {
    const ines = await person('ines')
    const general = channelOf(dev, 'general')
    const topic = unique('keys')
    await ines.send(general, topic, 'Press me')
    const page = new TalkPage(ines.page)
    await ines.go(`#narrow/channel/${general}/topic/${topic}`)
    await page.sees('Press me')
    await page.message('Press me').focus()
    await page.message('Press me').getByRole('button', { name: 'React' }).press('Enter')
    await expect(ines.page.getByRole('combobox', { name: 'Search emoji' })).toBeVisible()
    await ines.page.keyboard.press('Escape')
    await page.message('Press me').focus()
    await ines.page.keyboard.press('Enter')
    await expect(page.box).toBeFocused()
})
