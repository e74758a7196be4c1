/** Topics, channels and what messages hold, by keys alone. */
import { type Caller, callerOf, expect, makeChannel, test, unique } from './people'
import { PICTURE } from './pictures'
import { typistAt } from './typist'

/** How somebody is in a channel; undefined: they are not. */
async function subscription(who: Caller, id: number): Promise<Record<string, unknown> | undefined> {
    const { subscriptions } = await who.call<{ subscriptions: Record<string, unknown>[] }>(
        'GET',
        'users/me/subscriptions',
    )
    return subscriptions.find((each) => each['stream_id'] === id)
}

/** What is done to messages with votes and tasks, as others read it. */
async function widgetActs(who: Caller, id: number): Promise<Record<string, unknown>[]> {
    const { message } = await who.call<{ message: { submessages: { content: string }[] } }>('GET', `messages/${id}`)
    return message.submessages.map((each) => JSON.parse(each.content) as Record<string, unknown>)
}

test('a topic is renamed, resolved and opened again from its head', async ({ newcomer, dev }) => {
    const [tomas, kofi] = [await newcomer('Tomas Renames', { role: 300 }), callerOf(dev, 'kofi')]
    const id = await makeChannel(dev, unique('theatre'), [tomas, kofi])
    await kofi.send(id, 'costumes', 'Two hats are missing')
    const at = await typistAt(tomas, `#narrow/channel/${id}/topic/costumes`)
    await at.sees('Two hats')

    await at.actOnAll('Rename topic')
    const field = tomas.page.getByRole('textbox', { name: 'Topic name' })
    await expect(field).toBeFocused()
    await at.type('nothing')
    await at.press('Escape')
    await expect(at.main.getByRole('button', { name: 'More', exact: true }).first()).toBeFocused()
    await at.actOnAll('Rename topic')
    await expect(field).toHaveValue('costumes')
    await at.type('hats')
    await at.press('Enter')
    await expect.poll(() => kofi.texts(id, 'hats')).toContain('Two hats are missing')
    await expect(tomas.page).toHaveURL(/topic\/hats$/)

    await at.actOnAll('Mark as resolved')
    await expect.poll(() => kofi.texts(id, '✔ hats')).toContain('Two hats are missing')
    await expect(at.main.getByRole('heading').getByLabel('Resolved')).toBeVisible()
    await at.actOnAll('Mark as unresolved')
    await expect.poll(() => kofi.texts(id, 'hats')).toContain('Two hats are missing')
})

test('part of a topic gets a topic of its own, and the rest goes to another channel', async ({ newcomer, dev }) => {
    const [tomas, kofi] = [await newcomer('Tomas Moves', { role: 300 }), callerOf(dev, 'kofi')]
    const [stage, store] = [unique('stage'), unique('xylotheque')]
    const id = await makeChannel(dev, stage, [tomas, kofi])
    const other = await makeChannel(dev, store, [tomas, kofi])
    await kofi.send(id, 'props', 'A wooden sword')
    await kofi.send(id, 'props', 'And a paper crown')
    const at = await typistAt(tomas, `#narrow/channel/${id}/topic/props`)
    const dialog = tomas.page.getByRole('dialog')

    await at.act('And a paper crown', 'Start a new topic from here')
    await at.tabTo(dialog.getByRole('combobox', { name: 'Topic' }))
    await at.type('crowns')
    await at.press('Enter')
    await expect(dialog).toHaveCount(0)
    await expect.poll(() => kofi.texts(id, 'crowns')).toContain('And a paper crown')
    await expect.poll(() => kofi.texts(id, 'props')).not.toContain('And a paper crown')
    await expect(tomas.page.locator(':focus'), 'somewhere one can go on').toHaveCount(1)

    await at.sees('A wooden sword')
    await at.actOnAll('Move topic')
    const channel = dialog.getByRole('combobox', { name: 'Channel' })
    await expect(channel).toBeFocused()
    await at.type('xylo')
    await expect(channel.locator('option:checked')).toHaveText(store)
    await at.tabTo(dialog.getByRole('button', { name: 'Move', exact: true }))
    await at.press('Enter')
    await expect.poll(() => kofi.texts(other, 'props')).toContain('A wooden sword')
    await expect(tomas.page).toHaveURL(new RegExp(`channel/${other}.*topic/props$`))
})

test('the bell follows and mutes a topic, and mutes a channel', async ({ newcomer, dev }) => {
    const [tomas, kofi] = [await newcomer('Tomas Hears'), callerOf(dev, 'kofi')]
    const id = await makeChannel(dev, unique('tower'), [tomas, kofi])
    await kofi.send(id, 'bells', 'It is noon')
    const at = await typistAt(tomas, `#narrow/channel/${id}/topic/bells`)
    await at.sees('It is noon')
    const bell = at.main.getByRole('button', { name: /^Notifications:/ })
    const policies = async () => {
        const asked = { event_types: ['user_topic'], fetch_event_types: ['user_topic'] }
        const { user_topics } = await tomas.call<{ user_topics: Record<string, unknown>[] }>('POST', 'register', asked)
        return user_topics.map((each) => [each['topic_name'], each['visibility_policy']])
    }

    await at.tabTo(bell)
    await at.press('Enter')
    await at.choice('Follow this topic')
    await expect(bell).toHaveAccessibleName('Notifications: Follow this topic')
    await expect.poll(policies).toEqual([['bells', 3]])
    await expect(bell).toBeFocused()
    await at.press('Enter')
    await at.choice('Mute this topic')
    await expect.poll(policies).toEqual([['bells', 1]])
    await at.press('Enter')
    await at.choice('Same as the channel')
    await expect.poll(policies).toEqual([])

    await at.press('Escape')
    await expect(tomas.page).toHaveURL(new RegExp(`channel/${id}[^/]*$`))
    await at.tabTo(bell)
    await at.press('Enter')
    await at.choice('Muted')
    await expect.poll(() => subscription(tomas, id)).toMatchObject({ is_muted: true })
    await expect(bell).toHaveAccessibleName('Notifications: Muted')
})

test('a channel is pinned and left from its menu in the side bar, and joined again from its head', async ({
    newcomer,
    dev,
}) => {
    const [tomas, kofi] = [await newcomer('Tomas Leaves'), callerOf(dev, 'kofi')]
    const name = unique('garage')
    const id = await makeChannel(dev, name, [tomas, kofi])
    await kofi.send(id, 'tyres', 'All four are flat')
    const at = await typistAt(tomas, `#narrow/channel/${id}`)
    await at.sees('All four')
    const menu = tomas.page
        .getByRole('navigation', { name: 'Places' })
        .getByRole('button', { name: `Menu for ${name}` })

    await at.tabTo(menu)
    await at.press('Enter')
    await at.choice('Pin to the top')
    await expect.poll(() => subscription(tomas, id)).toMatchObject({ pin_to_top: true })
    await at.tabTo(menu)
    await at.press('Space')
    await at.choice('Leave channel')
    await expect.poll(() => subscription(tomas, id)).toBe(undefined)

    const join = at.main.getByRole('button', { name: 'Join' })
    await at.tabTo(join)
    await at.press('Enter')
    await expect.poll(() => subscription(tomas, id)).toMatchObject({ name })
    await expect(join).toHaveCount(0)
    await expect(at.main.getByRole('button', { name: 'More', exact: true }).first()).toBeFocused()
})

test('pictures open one by one with the arrows, and Esc leads back to where one was', async ({ newcomer, dev }) => {
    const tomas = await newcomer('Tomas Looks')
    const { page } = tomas
    const id = await makeChannel(dev, unique('gallery'), [tomas])
    const upload = async (name: string) => {
        const answer = await tomas.context.request.post('/api/v1/user_uploads', {
            headers: { Authorization: 'Basic ' + btoa(`${tomas.user.email}:${tomas.user.api_key}`) },
            multipart: { file: { name, mimeType: 'image/png', buffer: PICTURE } },
        })
        return ((await answer.json()) as { url: string }).url
    }
    await tomas.send(id, 'hall', `A [first.png](${await upload('first.png')})`)
    await tomas.send(id, 'hall', `B [second.png](${await upload('second.png')})`)
    const at = await typistAt(tomas, `#narrow/channel/${id}/topic/hall`)
    const viewer = page.getByRole('dialog', { name: 'Image' })
    const shown = (name: string) => expect(viewer.getByRole('img', { name })).toHaveJSProperty('naturalWidth', 8)

    await at.reach('A first')
    const pictures = page
        .getByRole('log')
        .getByRole('link')
        .filter({ has: page.locator('img') })
    const opener = pictures.first()
    await at.tabTo(opener)
    await at.press('Enter')
    await shown('first.png')
    await at.press('ArrowLeft')
    await shown('first.png')
    await at.press('ArrowRight')
    await shown('second.png')
    await at.press('+')
    await expect(viewer.getByRole('button', { name: 'Zoom out' })).toBeEnabled()
    await at.press('0')
    await expect(viewer.getByRole('button', { name: 'Zoom out' })).toBeDisabled()
    await at.press('Escape')
    await expect(viewer).toHaveCount(0)
    await expect(opener).toBeFocused()

    await at.tabTo(pictures.last())
    await at.press('Enter')
    await shown('second.png')
    await expect(viewer.getByRole('button', { name: 'Next image' })).toHaveCount(0)
    await at.press('Escape')
    await expect(pictures.last()).toBeFocused()
})

test('a spoiler opens, code is copied, and a name shows whose it is', async ({ newcomer, dev }) => {
    const tomas = await newcomer('Tomas Opens', { permissions: ['clipboard-read', 'clipboard-write'] })
    const [{ page }, kofi] = [tomas, callerOf(dev, 'kofi')]
    const id = await makeChannel(dev, unique('cinema'), [tomas, kofi])
    const parts = ['```spoiler The end\nThe ship sinks.\n```', '```python\nprint("Fin")\n```']
    await kofi.send(id, 'films', `Seen by @**Tomas Opens|${tomas.user.user_id}**\n\n${parts.join('\n\n')}`)
    const at = await typistAt(tomas, `#narrow/channel/${id}/topic/films`)
    const row = await at.reach('Seen by')

    const mention = row.getByRole('button', { name: '@Tomas Opens' })
    await at.tabTo(mention)
    await at.press('Space')
    await expect(page.getByRole('dialog')).toContainText('Tomas Opens')
    await at.press('Escape')
    await expect(mention).toBeFocused()

    const spoiler = row.getByRole('button', { name: 'The end' })
    await expect(spoiler).toHaveAttribute('aria-expanded', 'false')
    await at.tabTo(spoiler)
    await at.press('Enter')
    await expect(row.getByText('The ship sinks.')).toBeVisible()
    await expect(spoiler).toHaveAttribute('aria-expanded', 'true')
    await at.press('Space')
    await expect(row.getByText('The ship sinks.')).toBeHidden()

    await at.tabTo(row.getByRole('button', { name: 'Copy', exact: true }))
    await at.press('Enter')
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toContain('print("Fin")')
})

test('one votes, adds an option, checks a task off, and adds one', async ({ newcomer, dev }) => {
    const [tomas, kofi] = [await newcomer('Tomas Votes'), callerOf(dev, 'kofi')]
    const id = await makeChannel(dev, unique('picnic'), [tomas, kofi])
    const poll = await kofi.send(id, 'food', '/poll Lunch?\nSoup\nBread')
    const todo = await kofi.send(id, 'food', '/todo Bring\nPlates')
    const at = await typistAt(tomas, `#narrow/channel/${id}/topic/food`)

    const lunch = await at.reach('Lunch?')
    const soup = lunch.getByRole('button', { name: /^Soup/ })
    await at.tabTo(soup)
    await at.press('Space')
    await expect(soup).toHaveAttribute('aria-pressed', 'true')
    await expect(soup).toBeFocused()
    await expect.poll(() => widgetActs(kofi, poll)).toContainEqual(expect.objectContaining({ type: 'vote', vote: 1 }))
    await at.tabTo(lunch.getByRole('textbox', { name: 'Add an option' }))
    await at.type('Rice')
    await at.press('Enter')
    await expect(lunch.getByRole('button', { name: /^Rice/ })).toBeVisible()
    await expect.poll(() => widgetActs(kofi, poll)).toContainEqual(expect.objectContaining({ option: 'Rice' }))

    const bring = at.message('Bring')
    await at.tabTo(bring.getByRole('checkbox', { name: 'Plates' }))
    await at.press('Space')
    await expect.poll(() => widgetActs(kofi, todo)).toContainEqual(expect.objectContaining({ type: 'strike' }))
    await expect(bring.getByRole('checkbox', { name: 'Plates' })).toBeChecked()
    await at.tabTo(bring.getByRole('textbox', { name: 'Add a task' }))
    await at.type('Cups')
    await at.press('Enter')
    await expect(bring.getByRole('checkbox', { name: 'Cups' })).not.toBeChecked()
    await expect.poll(() => widgetActs(kofi, todo)).toContainEqual(expect.objectContaining({ task: 'Cups' }))
})
