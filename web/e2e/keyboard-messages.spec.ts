/** What one does to messages, by keys alone; whether it was done is asked of the server, by somebody else where they can see it. */
import { type Caller, callerOf, expect, makeChannel, test, unique } from './people'
import { typistAt } from './typist'

interface Reaction {
    emoji_name: string
    user_id: number
}

const reactions = async (who: Caller, id: number) => {
    const { message } = await who.call<{ message: { reactions: Reaction[] } }>('GET', `messages/${id}`)
    return message.reactions.map((each) => each.emoji_name).sort()
}

const flags = async (who: Caller, id: number) =>
    (await who.call<{ message: { flags: string[] } }>('GET', `messages/${id}`)).message.flags

test('a reaction is found by its letters and by arrows, and each is taken back where it stands', async ({
    newcomer,
    dev,
}) => {
    const [rosa, kofi] = [await newcomer('Rosa Reacts'), callerOf(dev, 'kofi')]
    const id = await makeChannel(dev, unique('regatta'), [rosa, kofi])
    const said = await kofi.send(id, 'boats', 'We sailed')
    const at = await typistAt(rosa, `#narrow/channel/${id}/topic/boats`)
    const won = await at.reach('We sailed')
    const field = rosa.page.getByRole('combobox', { name: 'Search emoji' })
    const chosen = rosa.page.getByRole('option', { selected: true })

    await at.press('x')
    await expect(field).toBeFocused()
    await at.type('octop')
    await expect(chosen).toHaveAccessibleName('octopus')
    await at.press('Enter')
    await expect(won).toBeFocused()
    await expect.poll(() => reactions(kofi, said)).toEqual(['octopus'])

    await at.press('x')
    await at.type('boat')
    await expect(chosen).toHaveAccessibleName(/boat/)
    const first = await chosen.getAttribute('aria-label')
    await at.press('ArrowRight')
    await expect(chosen).not.toHaveAccessibleName(first ?? '')
    await at.press('ArrowLeft')
    await expect(chosen).toHaveAccessibleName(first ?? '')
    await at.press('Escape')
    await expect(won).toBeFocused()
    expect(await reactions(kofi, said), 'Esc takes nothing').toEqual(['octopus'])

    await at.press('2')
    await expect.poll(() => reactions(kofi, said)).toHaveLength(2)
    await at.press('2')
    await expect.poll(() => reactions(kofi, said)).toEqual(['octopus'])
    await at.tabTo(won.getByRole('button', { name: /You reacted with :octopus:/ }))
    await at.press('Space')
    await expect.poll(() => reactions(kofi, said)).toEqual([])
})

test('a message of one’s own is edited, shows what changed and its source, and is deleted; the next one has the focus', async ({
    newcomer,
    dev,
}) => {
    const [rosa, kofi] = [await newcomer('Rosa Edits'), callerOf(dev, 'kofi')]
    const { page } = rosa
    const id = await makeChannel(dev, unique('kitchen'), [rosa, kofi])
    await rosa.send(id, 'soup', 'Two onions')
    await kofi.send(id, 'soup', 'And salt')
    const at = await typistAt(rosa, `#narrow/channel/${id}/topic/soup`)

    await at.reach('Two onions')
    await at.press('e')
    await expect(page.getByRole('combobox', { name: 'Edit message' })).toBeFocused()
    await at.press('Control+a')
    await at.type('Three *onions*')
    await at.press('Control+Enter')
    await expect.poll(() => kofi.texts(id, 'soup')).toEqual(['Three *onions*', 'And salt'])

    await at.act('Three onions', 'Edit history')
    const history = page.getByRole('dialog', { name: 'Edit history' })
    await expect(history).toBeFocused()
    await expect(history.locator('ins').first()).toContainText('Three')
    await at.tabTo(history.getByRole('checkbox', { name: 'Highlight changes' }))
    await at.press('Space')
    await expect(history.locator('ins')).toHaveCount(0)
    await at.press('Escape')
    await expect(at.message('Three onions')).toBeFocused()

    await at.act('Three onions', 'View source')
    await expect(page.getByRole('dialog', { name: 'View source' })).toContainText('Three *onions*')
    await at.press('Escape')

    await at.act('Three onions', 'Delete')
    const question = page.getByRole('dialog', { name: 'Delete this message?' })
    await expect(question).toBeVisible()
    await at.press('Escape')
    await expect(at.message('Three onions')).toBeFocused()
    expect(await kofi.texts(id, 'soup')).toHaveLength(2)
    await at.act('Three onions', 'Delete')
    await at.tabTo(question.getByRole('button', { name: 'Delete' }))
    await at.press('Enter')
    await expect.poll(() => kofi.texts(id, 'soup')).toEqual(['And salt'])
    await expect(at.message('And salt')).toBeFocused()
})

test('what somebody said is quoted in the answer, and forwarded to a topic that is chosen by typing', async ({
    newcomer,
    dev,
}) => {
    const [rosa, kofi] = [await newcomer('Rosa Quotes'), callerOf(dev, 'kofi')]
    const name = unique('library')
    const id = await makeChannel(dev, name, [rosa, kofi])
    await kofi.send(id, 'returns', 'Seven books are late')
    await kofi.send(id, 'letters', 'Dear readers')
    const at = await typistAt(rosa, `#narrow/channel/${id}/topic/returns`)

    await at.reach('Seven books')
    await at.press('Shift+Q')
    await expect(at.box).toBeFocused()
    await expect(at.box).toHaveValue(/```quote\nSeven books are late\n```/)
    await at.type('Mine too')
    await at.press('Control+Enter')
    await expect.poll(() => kofi.texts(id, 'returns')).toHaveLength(2)
    expect((await kofi.texts(id, 'returns'))[1]).toMatch(
        /said\]\(#narrow.*```quote\nSeven books are late\n```\s+Mine too$/s,
    )

    await at.press('Escape')
    await at.reach('Seven books')
    await at.press('f')
    await expect(at.page).toHaveURL(/#feed$/)
    await expect(at.box).toHaveValue(/Seven books are late/)
    await expect(at.page.getByRole('combobox', { name: 'Channel' })).toBeFocused()
    await at.type(name)
    await expect(at.page.getByRole('option', { name, selected: true })).toBeVisible()
    await at.press('Enter')
    await expect(at.page.getByRole('combobox', { name: 'Topic' })).toBeFocused()
    await at.type('lett')
    await expect(at.page.getByRole('option', { name: 'letters' })).toBeVisible()
    await at.press('ArrowDown')
    await at.press('Enter')
    await expect(at.box).toBeFocused()
    await at.press('Control+Enter')
    await expect.poll(async () => (await kofi.texts(id, 'letters')).at(-1)).toContain('Seven books are late')
})

test('a link in a message leads to the other, back and forward go along, and the link of a message is copied', async ({
    newcomer,
    dev,
}) => {
    const rosa = await newcomer('Rosa Follows', { permissions: ['clipboard-read', 'clipboard-write'] })
    const kofi = callerOf(dev, 'kofi')
    const name = unique('museum')
    const id = await makeChannel(dev, name, [rosa, kofi])
    const old = await kofi.send(id, 'vases', 'The blue vase')
    await kofi.send(id, 'news', `See #**${name}>vases@${old}**`)
    const at = await typistAt(rosa, `#narrow/channel/${id}/topic/news`)
    const copied = () => rosa.page.evaluate(() => navigator.clipboard.readText())

    const row = await at.reach('See')
    await at.tabTo(row.getByRole('link', { name: /vases/ }))
    await at.press('Enter')
    await at.sees('The blue vase')
    await expect(rosa.page).toHaveURL(new RegExp(`topic/vases/near/${old}$`))
    // The keys for these are the browser's own: no page sees them.
    await rosa.page.goBack()
    await at.sees('See')
    await rosa.page.goForward()
    await at.sees('The blue vase')

    await at.act('The blue vase', 'Copy link')
    await expect(rosa.page.getByText('Link copied.')).toBeVisible()
    expect(await copied()).toMatch(new RegExp(`^${dev.url}/.*topic/vases/near/${old}$`))
    await at.act('The blue vase', 'Copy text')
    await expect.poll(copied).toBe('The blue vase')
})

test('a message is starred, kept for later, and both are taken back', async ({ newcomer, dev }) => {
    const [rosa, kofi] = [await newcomer('Rosa Keeps'), callerOf(dev, 'kofi')]
    const id = await makeChannel(dev, unique('orchard'), [rosa, kofi])
    const said = await kofi.send(id, 'apples', 'Pick them on Monday')
    const at = await typistAt(rosa, `#narrow/channel/${id}/topic/apples`)
    const reminders = async () => (await rosa.call<{ reminders: unknown[] }>('GET', 'reminders')).reminders

    const row = await at.reach('Pick them')
    await at.press('s')
    await expect.poll(() => flags(rosa, said)).toContain('starred')
    await at.find('Starred')
    await at.sees('Pick them')
    await at.act('Pick them', 'Unstar')
    await expect.poll(() => flags(rosa, said)).not.toContain('starred')

    await rosa.page.goBack()
    await at.act('Pick them', 'Remind me')
    const times = rosa.page.getByRole('dialog', { name: 'Remind me' })
    await expect(times.getByRole('button', { name: 'In an hour' })).toBeFocused()
    await at.tabTo(times.getByRole('button', { name: 'Tomorrow morning' }))
    await at.press('Enter')
    await expect.poll(reminders).toMatchObject([{ reminder_target_message_id: said }])
    await expect(rosa.page.getByText('We’ll remind you')).toBeVisible()
    await expect(row).toBeFocused()
    await at.press('z')
    await expect.poll(reminders).toEqual([])
    await expect(row).toBeFocused()
})

test('a message is pinned from its menu and unpinned in the list of pins, which keeps the focus', async ({
    newcomer,
    dev,
}) => {
    const [rosa, kofi] = [await newcomer('Rosa Pins'), callerOf(dev, 'kofi')]
    const id = await makeChannel(dev, unique('cellar'), [rosa, kofi])
    const ids = [await kofi.send(id, 'keys', 'Under the mat'), await kofi.send(id, 'keys', 'Or by the door')]
    const at = await typistAt(rosa, `#narrow/channel/${id}/topic/keys`)
    const pins = async () => {
        const { pins: all } = await kofi.call<{ pins: { message_id: number }[] }>('GET', `messages/${ids[0]}/pins`)
        return all.map((pin) => pin.message_id).sort((a, b) => a - b)
    }
    for (const text of ['Under the mat', 'Or by the door']) await at.act(text, 'Pin for everyone here')
    await expect.poll(pins).toEqual(ids)

    await at.tabTo(at.main.getByRole('button', { name: '2 pinned messages' }))
    await at.press('Enter')
    const list = rosa.page.getByRole('list', { name: 'Pinned messages' })
    const unpin = list.getByRole('button', { name: 'Unpin Kofi Mensah’s message' })
    await at.tabTo(unpin.first())
    await at.press('Enter')
    await expect.poll(pins).toHaveLength(1)
    await expect(list.getByRole('button', { name: /Under the mat|Or by the door/ })).toBeFocused()
    await at.tabTo(unpin)
    await at.press('Enter')
    await expect.poll(pins).toEqual([])
    await expect(rosa.page.getByText('Nothing is pinned here yet.')).toBeVisible()
    await at.press('Escape')
    await expect(list).toHaveCount(0)
    await expect(at.main).toBeFocused()
})

test('what was read is unread again from a message on, and the inbox leads back to it', async ({ newcomer, dev }) => {
    const [rosa, kofi] = [await newcomer('Rosa Returns'), callerOf(dev, 'kofi')]
    const id = await makeChannel(dev, unique('school'), [rosa, kofi])
    const ids: number[] = []
    for (const text of ['First lesson', 'Second lesson', 'Third lesson']) ids.push(await kofi.send(id, 'lessons', text))
    const unread = async () => {
        const read = await Promise.all(ids.map((each) => flags(rosa, each)))
        return read.map((each) => !each.includes('read'))
    }
    const at = await typistAt(rosa, `#narrow/channel/${id}/topic/lessons`)
    await expect.poll(unread, 'read as it was seen').toEqual([false, false, false])

    await at.reach('Second lesson')
    await at.press('Shift+U')
    await expect.poll(unread).toEqual([false, true, true])
    await at.press('Shift+I')
    const line = at.main.getByRole('link', { name: /lessons/ })
    await expect(line).toContainText('2')
    await at.press('j')
    await expect(line).toBeFocused()
    await at.press('Enter')
    await expect(rosa.page.getByRole('separator').filter({ hasText: 'Unread' })).toBeVisible()
    await expect.poll(unread, 'read as it is seen again').toEqual([false, false, false])
})
