/** Finding things again by keys alone: searches, days, recent conversations, the inbox, and the keys themselves. */
import { callerOf, expect, makeChannel, test, unique } from './people'
import { typistAt } from './typist'

test('filters are put on and taken off, and a search is kept under a name, forgotten, and brought back', async ({
    newcomer,
    dev,
}) => {
    const [fadi, kofi] = [await newcomer('Fadi Filters'), callerOf(dev, 'kofi')]
    const { page } = fadi
    const word = unique('lantern').replaceAll('-', '')
    const id = await makeChannel(dev, unique('attic'), [fadi, kofi])
    await kofi.send(id, 'shelf', `An old ${word}`)
    await kofi.send(id, 'shelf', `A ${word} https://example.com`)
    await fadi.send(id, 'shelf', `My ${word}`)
    const at = await typistAt(fadi, '#search')
    const field = page.getByRole('searchbox', { name: 'Search messages' })
    const found = page.getByRole('log').getByRole('article')
    const opener = (name: string) => page.getByRole('group', { name: 'Filters' }).getByRole('button', { name })

    await at.tabTo(field)
    await at.type(word)
    await at.press('Enter')
    await expect(found).toHaveText([/My/, /https/, /An old/])
    await at.tabTo(opener('From'))
    await at.press('Enter')
    await expect(page.getByRole('combobox', { name: 'Sent by' })).toBeFocused()
    await at.type('kofi m')
    await expect(page.getByRole('option', { name: 'Kofi Mensah', selected: true })).toBeVisible()
    await at.press('Enter')
    await expect(found).toHaveText([/https/, /An old/])
    await at.tabTo(opener('Has'))
    await at.press('Enter')
    await at.choice('Has a link')
    await expect(found).toHaveText([/https/])
    await at.tabTo(page.getByRole('button', { name: 'Remove filter: From Kofi Mensah' }))
    await at.press('Enter')
    await expect(field).toBeFocused()
    await expect(field).toHaveValue(`has:link ${word}`)

    await at.tabTo(page.getByRole('button', { name: 'Save this search' }))
    await at.press('Enter')
    await expect(page.getByRole('textbox', { name: 'Name' })).toBeFocused()
    await at.press('Control+a')
    await at.type('Bright')
    await at.press('Enter')
    const saved = page.getByRole('navigation', { name: 'Saved searches' }).getByRole('link', { name: 'Bright' })
    await expect(saved).toBeVisible()
    await at.tabTo(page.getByRole('button', { name: 'Saved as Bright' }))
    await at.press('Enter')
    await at.tabTo(page.getByRole('button', { name: 'Remove', exact: true }))
    await at.press('Enter')
    await expect(saved).toHaveCount(0)
    await at.press('z')
    await expect(saved).toBeVisible()
    await at.tabTo(saved)
    await at.press('Enter')
    await at.press('j')
    await expect(found.first()).toBeFocused()
    await at.press('t')
    await expect(page, 'to where it was said').toHaveURL(/topic\/shelf\/near\/\d+$/)
})

test('a conversation opens at a day, and at its newest end', async ({ newcomer, dev }) => {
    const [fadi, kofi] = [await newcomer('Fadi Dates'), callerOf(dev, 'kofi')]
    const { page } = fadi
    const id = await makeChannel(dev, unique('diary'), [fadi, kofi])
    for (let line = 1; line <= 20; line += 1) await kofi.send(id, 'days', `Line ${line}.\n\nla\n\nla\n\nla`)
    const at = await typistAt(fadi, `#narrow/channel/${id}/topic/days`)
    await at.sees('Line 1.')
    await at.press('End')
    await expect(at.message('Line 20.')).toBeInViewport()
    await expect(at.message('Line 1.')).not.toBeInViewport()

    await at.actOnAll('Jump to a date')
    const days = page.getByRole('dialog', { name: 'Jump to a date' })
    await expect(days.getByLabel('Date')).toBeVisible()
    await at.tabTo(days.getByRole('button', { name: 'A week ago' }))
    await at.press('Enter')
    await expect(page).toHaveURL(/near\/\d+$/)
    await expect(at.message('Line 1.')).toBeInViewport()
    await expect(days).toHaveCount(0)
    await expect(page.locator(':focus')).toHaveCount(1)
    await at.press('End')
    await expect(at.message('Line 20.')).toBeInViewport()
})

test('recent conversations are filtered and gone through line by line', async ({ newcomer, dev }) => {
    const [fadi, kofi] = [await newcomer('Fadi Recent'), callerOf(dev, 'kofi')]
    const id = await makeChannel(dev, unique('porch'), [fadi, kofi])
    await fadi.send(id, 'chairs', 'I have two')
    await kofi.send(id, 'tables', 'One with three legs')
    await kofi.call('POST', 'messages', { type: 'direct', to: [fadi.user.user_id], content: 'Are you there?' })
    const at = await typistAt(fadi, '#inbox')
    await at.press('Shift+R')
    const lines = at.main.getByRole('listitem')
    await expect(lines).toHaveText([/Are you there/, /One with three legs/, /I have two/])
    const filter = (name: string) =>
        at.main.getByRole('group', { name: 'Filter conversations' }).getByRole('button', { name, exact: true })

    await at.tabTo(filter('Participated'))
    await at.press('Space')
    await expect(filter('Participated')).toHaveAttribute('aria-pressed', 'true')
    await expect(lines).toHaveText([/I have two/])
    await at.press('Space')
    await at.tabTo(filter('Channels'))
    await at.press('Enter')
    await expect(lines).toHaveText([/One with three legs/, /I have two/])
    await at.press('j')
    await expect(lines.nth(0).getByRole('link')).toBeFocused()
    await at.press('ArrowDown')
    await expect(lines.nth(1).getByRole('link')).toBeFocused()
    await at.press('k')
    await at.press('Enter')
    await at.sees('One with three legs')
    await fadi.page.goBack()
    await expect(lines, 'as one left it').toHaveCount(2)
})

test('lines of the inbox are read, muted, followed and put off by single keys, and z takes each back', async ({
    newcomer,
    dev,
}) => {
    const [fadi, kofi] = [await newcomer('Fadi Triage'), callerOf(dev, 'kofi')]
    const id = await makeChannel(dev, unique('yard'), [fadi, kofi])
    const ids = [await kofi.send(id, 'one', 'About one'), await kofi.send(id, 'two', 'About two')]
    const at = await typistAt(fadi, '#inbox')
    const line = (topic: string) => at.main.getByRole('link', { name: new RegExp(`About ${topic}`) })
    const isRead = async (message: number | undefined) =>
        (await fadi.call<{ message: { flags: string[] } }>('GET', `messages/${message}`)).message.flags.includes('read')
    const policies = async () => {
        const asked = { event_types: ['user_topic'], fetch_event_types: ['user_topic'] }
        const { user_topics } = await fadi.call<{ user_topics: Record<string, unknown>[] }>('POST', 'register', asked)
        return user_topics.map((each) => [each['topic_name'], each['visibility_policy']])
    }
    const reminders = async () => (await fadi.call<{ reminders: unknown[] }>('GET', 'reminders')).reminders.length

    await expect(line('one')).toBeVisible()
    await at.press('j')
    await expect(line('two')).toBeFocused()
    await at.press('r')
    await expect.poll(() => isRead(ids[1])).toBe(true)
    await expect(line('one')).toBeFocused()
    await expect(fadi.page.getByRole('button', { name: 'Undo' }), 'what z takes back').toBeVisible()
    await at.press('z')
    await expect.poll(() => isRead(ids[1])).toBe(false)
    await expect(line('two')).toBeVisible()

    await at.press('m')
    await expect.poll(policies).toEqual([['one', 1]])
    await expect(fadi.page.getByText('“one” is muted.')).toBeVisible()
    await at.press('z')
    await expect.poll(policies).toEqual([])
    await expect(line('one')).toBeVisible()
    await at.press('k')
    await expect(line('two')).toBeFocused()
    await at.press('f')
    await expect.poll(policies).toEqual([['two', 3]])

    await at.press('s')
    const times = fadi.page.getByRole('dialog', { name: 'Remind me later' })
    await expect(times.getByRole('button', { name: 'In an hour' })).toBeFocused()
    await at.press('Enter')
    await expect.poll(reminders).toBe(1)
    await expect(line('two')).toHaveCount(0)
    await expect(fadi.page.getByText('Marked as read. We’ll remind you')).toBeVisible()
    await at.press('z')
    await expect.poll(reminders).toBe(0)
    await expect(line('two')).toBeVisible()
})

test('the sheet of short cuts is found, read and left, and its keys lead from place to place', async ({
    newcomer,
    dev,
}) => {
    const [fadi, kofi] = [await newcomer('Fadi Shortcuts'), callerOf(dev, 'kofi')]
    const { page } = fadi
    const id = await makeChannel(dev, unique('pier'), [fadi, kofi])
    const at = await typistAt(fadi, '#inbox')
    const heading = (name: string) => at.main.getByRole('heading', { name })

    await at.find('Keyboard shortcuts')
    const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await expect(sheet).toBeFocused()
    await expect(sheet.getByRole('definition').filter({ hasText: /^Z$/ })).toBeVisible()
    await at.press('Tab')
    await at.press('Tab')
    await expect(sheet.getByRole('group'), 'what is long is scrolled by keys').toBeFocused()
    await at.press('Escape')
    await expect(sheet).toHaveCount(0)
    await expect(at.main).toBeFocused()

    await at.press('Shift+A')
    await expect(heading('Combined feed')).toBeVisible()
    await at.press('Shift+R')
    await expect(heading('Recent conversations')).toBeVisible()
    await at.press('Shift+I')
    await expect(heading('Inbox')).toBeVisible()
    await kofi.send(id, 'gulls', 'They took my bread')
    await expect(at.main.getByRole('link', { name: /They took my bread/ })).toBeVisible()
    await at.press('n')
    await at.sees('They took my bread')
    await at.press('/')
    await expect(page.getByRole('combobox', { name: /Find a place/ })).toBeFocused()
    await at.press('Escape')
    await expect(at.main).toBeFocused()
})
