/** What can be done with a message besides answering it. */
import { complaints } from './complaints'
import { callerOf, expect, makeChannel, ownerOf, test, unique } from './people'
import { TalkPage } from './talk-page'
import { typistAt } from './typist'

test('a message shows its source and what changed in it, is copied, forwarded, brought back later, and reported', async ({
    newcomer,
    dev,
}) => {
    const mila = await newcomer('Mila Acts', { permissions: ['clipboard-read', 'clipboard-write'] })
    const { page } = mila
    const kofi = callerOf(dev, 'kofi')
    const owner = ownerOf(dev)
    const { id: office } = await owner.call<{ id: number }>('POST', 'channels/create', {
        name: unique('office'),
        subscribers: [owner.user.user_id],
        invite_only: true,
    })
    await owner.call('PATCH', 'realm', { moderation_request_channel_id: office })
    const id = await makeChannel(dev, unique('print'), [mila, kofi])
    const said = await kofi.send(id, 'posters', 'The **red** poster')
    await kofi.call('PATCH', `messages/${said}`, { content: 'The **blue** poster' })
    const talk = new TalkPage(page)
    await mila.go(`#narrow/channel/${id}/topic/posters`)
    await talk.sees('blue poster')

    await talk.choose('blue poster', 'Edit history')
    const history = page.getByRole('dialog', { name: 'Edit history' })
    await expect(history.locator('ins')).toHaveText('blue')
    await expect(history.locator('del')).toHaveText('red')
    expect(await complaints(page, null)).toEqual([])
    await history.getByRole('checkbox', { name: 'Highlight changes' }).uncheck()
    await expect(history.locator('del')).toHaveCount(0)
    await page.keyboard.press('Escape')

    await talk.choose('blue poster', 'View source')
    await expect(page.getByRole('dialog', { name: 'View source' })).toContainText('The **blue** poster')
    await page.keyboard.press('Escape')
    await talk.choose('blue poster', 'Copy text')
    await expect(page.getByText('Text copied.')).toBeVisible()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('The **blue** poster')

    await talk.choose('blue poster', 'Remind me')
    await page.getByRole('button', { name: 'Tomorrow morning' }).click()
    await expect(page.getByText('We’ll remind you')).toBeVisible()
    const reminders = async () => (await mila.call<{ reminders: unknown[] }>('GET', 'reminders')).reminders
    expect(await reminders()).toMatchObject([{ reminder_target_message_id: said }])
    await page.getByRole('button', { name: 'Undo' }).click()
    await expect.poll(reminders).toEqual([])

    await talk.choose('blue poster', 'Report')
    const report = page.getByRole('dialog', { name: 'Report this message' })
    await report.getByRole('radio', { name: 'Something else' }).check()
    await expect(report.getByRole('button', { name: 'Send report' })).toBeDisabled()
    await report.getByRole('textbox', { name: 'Tell us what’s wrong' }).fill('It is not blue')
    await report.getByRole('button', { name: 'Send report' }).click()
    await expect(page.getByText('Your report has been sent')).toBeVisible()
    await expect.poll(() => owner.texts(office, 'Reports about Kofi Mensah')).toHaveLength(1)

    await talk.message('blue poster').focus()
    await page.keyboard.press('f')
    await expect(talk.box).toHaveValue(/said\]\(#narrow.*\n```quote\nThe \*\*blue\*\* poster\n```/)
    await expect(page).toHaveURL(/#feed$/)
})

test('what one reacts with most is one press, one key or one long press away, and emoji alone are large', async ({
    newcomer,
    dev,
}) => {
    const mila = await newcomer('Mila Reacts')
    const { page } = mila
    const kofi = callerOf(dev, 'kofi')
    const id = await makeChannel(dev, unique('cheer'), [mila, kofi])
    await kofi.send(id, 'news', 'We won')
    await kofi.send(id, 'news', 'Twice')
    await kofi.send(id, 'news', ':tada: :octopus:')
    const talk = new TalkPage(page)
    await mila.go(`#narrow/channel/${id}/topic/news`)
    const [won, twice] = [talk.message('We won'), talk.message('Twice')]
    const size = (text: string) =>
        talk.message(text).evaluate((row) => {
            const shown = row.querySelector('.message-body .emoji, .message-body p') as Element
            return Number.parseFloat(getComputedStyle(shown).fontSize)
        })
    expect(await size('🎉')).toBeGreaterThan(1.8 * (await size('We won')))

    await talk.react('We won', 'octopus')
    await expect(won.getByRole('button', { name: /You reacted with :octopus:/ })).toBeVisible()
    const quick = twice.getByRole('toolbar').getByRole('button')
    // The order stays while one points at it; the habit is known when the server has told of the reaction.
    await expect(async () => {
        await won.hover()
        await twice.hover()
        await expect(quick.first()).toHaveAccessibleName('octopus', { timeout: 300 })
    }).toPass()
    await quick.first().click()
    await expect(twice.getByRole('button', { name: /You reacted with :octopus:/ })).toBeVisible()
    await expect(quick.first()).toHaveAttribute('aria-pressed', 'true')

    await won.focus()
    await page.keyboard.press('1')
    await expect(won.getByRole('button', { name: /reacted with/ })).toHaveCount(0)
    await page.keyboard.press('2')
    await expect(won.getByRole('button', { name: /You reacted with :\+1:/ })).toBeVisible()

    await twice.dispatchEvent('pointerdown', { pointerType: 'touch', bubbles: true })
    await page.getByRole('menuitem', { name: 'heart' }).click()
    await expect(twice.getByRole('button', { name: /You reacted with :heart:/ })).toBeVisible()
})

test('the head of a conversation counts members, sets what one hears, and renames, splits and finds files', async ({
    newcomer,
    dev,
}) => {
    const mila = await newcomer('Mila Heads', { role: 300 })
    const { page } = mila
    const kofi = callerOf(dev, 'kofi')
    const id = await makeChannel(dev, unique('press'), [mila, kofi])
    await kofi.send(id, 'paper', 'We need paper')
    await kofi.send(id, 'paper', 'And ink')
    const talk = new TalkPage(page)
    const head = page.getByRole('main').locator('header').first()
    const bell = head.getByRole('button', { name: /^Notifications:/ })

    await mila.go(`#narrow/channel/${id}`)
    await talk.sees('And ink')
    await expect(head.getByRole('link', { name: '2 members' })).toBeVisible()
    await expect(bell).toHaveAccessibleName('Notifications: Same as in your settings')
    await bell.click()
    await page.getByRole('menuitemcheckbox', { name: 'Only mentions' }).click()
    await expect(bell).toHaveAccessibleName('Notifications: Only mentions')
    const own = async () => {
        const { subscriptions } = await mila.call<{ subscriptions: Record<string, unknown>[] }>(
            'GET',
            'users/me/subscriptions',
        )
        return subscriptions.find((each) => each['stream_id'] === id)
    }
    await expect.poll(own).toMatchObject({ desktop_notifications: false, push_notifications: false, is_muted: false })

    await mila.go(`#narrow/channel/${id}/topic/paper`)
    await bell.click()
    await page.getByRole('menuitemcheckbox', { name: 'Follow this topic' }).click()
    await expect(bell).toHaveAccessibleName('Notifications: Follow this topic')
    expect(await complaints(page, null)).toEqual([])

    await head.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Rename topic' }).click()
    await page.getByRole('textbox', { name: 'Topic name' }).fill('paper and ink')
    await page.keyboard.press('Enter')
    await expect(head).toContainText('paper and ink')
    await expect(page).toHaveURL(/topic\/paper\.20and\.20ink$/)
    await expect.poll(() => mila.texts(id, 'paper and ink')).toEqual(expect.arrayContaining(['And ink']))

    await talk.choose('And ink', 'Start a new topic from here')
    await page.getByRole('dialog').getByRole('combobox', { name: 'Topic' }).fill('ink')
    await page.getByRole('dialog').getByRole('button', { name: 'Move', exact: true }).click()
    await expect.poll(() => mila.texts(id, 'ink')).toContain('And ink')
    await talk.sees('We need paper')

    await head.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Files' }).click()
    await expect(page.getByRole('list', { name: 'Active filters' })).toContainText('Has a file')
})

// Here with the others that name the channel for reports, which an organization has one of: files run side by side.
test('what members report is one click away for who reads it, and for nobody else', async ({ newcomer, dev }) => {
    const [mona, ned] = [await newcomer('Mona Moderates', { role: 300 }), await newcomer('Ned Nuisance')]
    const { page } = mona
    const owner = ownerOf(dev)
    const name = unique('moderation')
    const { id } = await owner.call<{ id: number }>('POST', 'channels/create', {
        name,
        subscribers: [mona.user.user_id, owner.user.user_id],
        invite_only: true,
    })
    const talk = await makeChannel(dev, unique('square'), [mona, ned])
    await owner.call('PATCH', 'realm', { moderation_request_channel_id: id })
    try {
        const messageId = await ned.send(talk, 'offers', 'Buy my boat')
        await callerOf(dev, 'ines').call('POST', `messages/${messageId}/report`, { report_type: 'spam' })
        await mona.go('#organization/reports')
        await page.getByRole('list', { name: 'Reports' }).getByRole('link', { name: 'Reports about Ned' }).click()
        await new TalkPage(page).sees('Buy my boat')
        await ned.go('#organization/reports')
        await expect(ned.page.getByRole('link', { name: 'General' })).toHaveAttribute('aria-current', 'page')
        await expect(ned.page.getByRole('main').getByRole('link', { name: 'Reports' })).toHaveCount(0)
    } finally {
        await owner.call('PATCH', 'realm', { moderation_request_channel_id: -1 })
    }
})

test('one sees who has read a message, and reports one to those who moderate', async ({ newcomer, dev }) => {
    const [rosa, kofi, owner] = [await newcomer('Rosa Reports'), callerOf(dev, 'kofi'), ownerOf(dev)]
    const { id: office } = await owner.call<{ id: number }>('POST', 'channels/create', {
        name: unique('office'),
        subscribers: [owner.user.user_id],
        invite_only: true,
    })
    await owner.call('PATCH', 'realm', { moderation_request_channel_id: office })
    const id = await makeChannel(dev, unique('bazaar'), [rosa, kofi])
    const mine = await rosa.send(id, 'prices', 'Lamps are ten')
    await kofi.call('POST', 'messages/flags', { messages: [mine], op: 'add', flag: 'read' })
    await kofi.send(id, 'prices', 'Buy my watches')
    const at = await typistAt(rosa, `#narrow/channel/${id}/topic/prices`)

    await at.act('Lamps are ten', 'Read by')
    const readers = rosa.page.getByRole('dialog', { name: 'Read by' })
    await expect(readers).toContainText('Kofi Mensah')
    await at.press('Escape')
    await expect(at.message('Lamps are ten')).toBeFocused()

    await at.act('Buy my watches', 'Report')
    const report = rosa.page.getByRole('dialog', { name: 'Report this message' })
    await expect(report.getByRole('radio', { name: 'Spam' })).toBeFocused()
    await at.press('ArrowDown')
    await expect(report.getByRole('radio', { name: 'Harassment' })).toBeChecked()
    await at.press('ArrowUp')
    await at.tabTo(report.getByRole('textbox'))
    await at.type('Three times today')
    await at.tabTo(report.getByRole('button', { name: 'Send report' }))
    await at.press('Enter')
    await expect(report).toHaveCount(0)
    await expect(at.message('Buy my watches')).toBeFocused()
    const reports = () => owner.texts(office, 'Reports about Kofi Mensah')
    await expect.poll(async () => (await reports()).at(-1) ?? '').toContain('Three times today')
})
