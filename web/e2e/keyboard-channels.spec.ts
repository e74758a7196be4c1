/** Channels without a mouse: made, filled, changed, left and archived; others find it so at once. */
import { callerOf, expect, makeChannel, type Person, test, unique } from './people'
import { Keys } from './keyboard-only'
import { TalkPage } from './talk-page'

interface Channel {
    stream_id: number
    name: string
    description: string
    invite_only: boolean
    history_public_to_subscribers: boolean
    is_archived: boolean
    message_retention_days: number | null
    can_send_message_group: number | { direct_members: number[]; direct_subgroups: number[] }
}

const channelAt = async (person: Person, id: number) =>
    (await person.call<{ stream: Channel }>('GET', `streams/${id}`)).stream

const membersOf = async (person: Person, id: number) =>
    (await person.call<{ subscribers: number[] }>('GET', `streams/${id}/members`)).subscribers

test('a private channel is made with somebody in it, and described anew', async ({ newcomer }) => {
    const [nora, friend] = [await newcomer('Nora Makes'), unique('Tom Friend')]
    const tom = await newcomer(friend)
    const { page } = nora
    const keys = new Keys(nora)
    const name = unique('attic')
    await nora.go('#channels')
    await keys.enter(page.getByRole('link', { name: 'New channel' }))
    await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toBeFocused()
    await keys.press('Enter')
    await expect(page.getByText('Give the channel a name.')).toBeVisible()
    await keys.type(name)
    await keys.write(page.getByRole('textbox', { name: 'Description' }), 'Old chairs')
    await keys.press('Tab')
    await expect(page.getByRole('radio', { name: 'Public', exact: true })).toBeFocused()
    await keys.press('ArrowDown', 'ArrowDown')
    await expect(page.getByRole('radio', { name: 'Private, protected history' })).toBeChecked()
    await keys.pick(page.getByRole('combobox', { name: 'Add people' }), friend)
    await keys.enter(page.getByRole('button', { name: 'Create channel' }))
    await expect(page).toHaveURL(/#narrow\/channel\/\d+/)
    const id = Number(/channel\/(\d+)/.exec(page.url())?.[1])
    await expect(keys.main).toBeFocused()
    expect(await channelAt(tom, id)).toMatchObject({
        name,
        description: 'Old chairs',
        invite_only: true,
        history_public_to_subscribers: false,
    })
    expect(await membersOf(tom, id)).toEqual(expect.arrayContaining([nora.user.user_id, tom.user.user_id]))

    await nora.go(`#channels/${id}`)
    await keys.write(page.getByRole('textbox', { name: 'Description' }), 'Old chairs and a clock')
    await keys.press('Enter')
    await expect.poll(async () => (await channelAt(tom, id)).description).toBe('Old chairs and a clock')
    await expect(page.getByRole('textbox', { name: 'Description' })).toBeFocused()
})

test('people are added to a channel by their names, and removed one after the other', async ({ newcomer, dev }) => {
    const ada = await newcomer('Ada Adds', { role: 200 })
    const { page } = ada
    const keys = new Keys(ada)
    const names = [unique('Bea'), unique('Carl')].sort()
    const people = [await newcomer(names[0] ?? ''), await newcomer(names[1] ?? '')]
    const id = await makeChannel(dev, unique('choir'), [ada])
    await ada.go(`#channels/${id}`)
    const part = page.getByRole('region', { name: 'People in the channel' })
    const field = part.getByRole('combobox', { name: 'Add people' })
    for (const name of names) await keys.pick(field, name)
    await keys.press('Backspace')
    await expect(part.getByRole('button', { name: `Remove ${names[1]}` }), 'the last is taken back').toHaveCount(0)
    await keys.pick(field, names[1] ?? '')
    await keys.enter(part.getByRole('button', { name: 'Add', exact: true }))
    const list = part.getByRole('list', { name: 'People in the channel' })
    await expect(list.getByRole('listitem')).toHaveCount(3)
    await expect(field, 'the next are typed there').toBeFocused()
    const both = people.map((person) => person.user.user_id)
    expect(await membersOf(ada, id)).toEqual(expect.arrayContaining(both))

    await keys.enter(list.getByRole('button', { name: `Remove ${names[0]}` }))
    await expect(list.getByRole('listitem')).toHaveCount(2)
    await expect(list.getByRole('button', { name: `Remove ${names[1]}` })).toBeFocused()
    await keys.press('Enter')
    await expect(list.getByRole('listitem')).toHaveCount(1)
    await expect(list.getByRole('button', { name: 'Remove Ada Adds' })).toBeFocused()
    expect(await membersOf(ada, id)).toEqual([ada.user.user_id])
})

test('a channel is archived after a question, found among the archived, and brought back', async ({
    newcomer,
    dev,
}) => {
    const ada = await newcomer('Ada Archives', { role: 200 })
    const { page } = ada
    const keys = new Keys(ada)
    const name = unique('cellar')
    const id = await makeChannel(dev, name, [ada])
    await ada.go(`#channels/${id}`)
    await keys.enter(page.getByRole('button', { name: 'Archive channel' }))
    await keys.press('Escape')
    await expect(page.getByRole('button', { name: 'Archive channel' })).toBeFocused()
    expect((await channelAt(ada, id)).is_archived).toBe(false)
    await keys.press('Enter')
    await keys.agree(`Archive ${name}?`, 'Archive channel')
    await expect(page.getByRole('heading', { level: 1, name: 'Channels' })).toBeVisible()
    await expect(keys.main).toBeFocused()
    expect((await channelAt(ada, id)).is_archived).toBe(true)

    await keys.enter(page.getByRole('region', { name: 'Archived' }).getByRole('link', { name: new RegExp(name) }))
    await keys.enter(page.getByRole('button', { name: 'Unarchive' }))
    await expect.poll(async () => (await channelAt(ada, id)).is_archived).toBe(false)
    await expect(page.getByRole('button', { name: 'Unarchive' })).toHaveCount(0)
    await expect(keys.main).toBeFocused()
    await ada.send(id, 'jars', 'Plums')
})

test('a channel is muted, pinned and told of as one wants', async ({ newcomer, dev }) => {
    const nora = await newcomer('Nora Own')
    const { page } = nora
    const keys = new Keys(nora)
    const name = unique('bench')
    const id = await makeChannel(dev, name, [nora])
    const own = async () => {
        const { subscriptions } = await nora.call<{ subscriptions: { stream_id: number }[] }>(
            'GET',
            'users/me/subscriptions',
        )
        return subscriptions.find((each) => each.stream_id === id)
    }
    await nora.go(`#channels/${id}`)
    const part = page.getByRole('region', { name: 'For you' })
    await keys.toggle(part.getByRole('switch', { name: 'Mute' }))
    await keys.toggle(part.getByRole('switch', { name: 'Pin to the top' }))
    await keys.choose(part.getByRole('combobox', { name: 'Notify me on the desktop' }), 'Yes')
    await keys.choose(part.getByRole('combobox', { name: 'Send me emails' }), 'No')
    await expect.poll(own).toMatchObject({
        is_muted: true,
        pin_to_top: true,
        desktop_notifications: true,
        email_notifications: false,
        push_notifications: null,
    })
    await expect(part.getByRole('combobox', { name: 'Send me emails' })).toBeFocused()
    const places = page.getByRole('navigation', { name: 'Places', exact: true })
    await expect(places.getByRole('button', { name: 'Pinned' })).toBeVisible()
})

test('only certain people may write, and messages are kept for a month, after a question', async ({
    newcomer,
    dev,
}) => {
    const [olga, writer] = [await newcomer('Olga Rules', { role: 100 }), unique('Wim Writes')]
    const [wim, rose] = [await newcomer(writer), await newcomer('Rose Reads')]
    const { page } = olga
    const keys = new Keys(olga)
    const name = unique('board')
    const id = await makeChannel(dev, name, [olga, wim, rose])
    await rose.go(`#narrow/channel/${id}/topic/news`)
    await expect(new TalkPage(rose.page).box).toBeVisible()
    await olga.go(`#channels/${id}`)
    const part = page.getByRole('region', { name: 'Permissions' })
    const list = part.getByRole('combobox', { name: 'Send messages', exact: true })
    await keys.choose(list, 'Specific people and groups')
    const field = part.getByRole('combobox', { name: 'Send messages: people and groups' })
    await keys.reach(field)
    await keys.press('Backspace')
    await keys.pick(field, writer)
    await keys.press('Enter')
    await expect(rose.page.getByText('You can read here, but not write.')).toBeVisible()
    await expect(list).toBeFocused()
    await expect(list).toHaveAccessibleDescription(writer)
    const { can_send_message_group } = await channelAt(olga, id)
    expect(can_send_message_group).toEqual({ direct_members: [wim.user.user_id], direct_subgroups: [] })

    const kept = page.getByRole('combobox', { name: 'Keep messages for' })
    await keys.reach(kept)
    await keys.press('Space')
    await keys.type('30 days')
    await keys.press('Enter')
    await keys.press('Escape')
    await expect(kept.locator('option:checked')).toHaveText('Same as the organization')
    await expect(kept).toBeFocused()
    await keys.press('Space')
    await keys.type('30 days')
    await keys.press('Enter')
    await keys.agree('Keep messages for only 30 days?', 'Delete older messages')
    await expect.poll(async () => (await channelAt(olga, id)).message_retention_days).toBe(30)
})

test('a channel is found in the list, joined, opened and left', async ({ newcomer, dev }) => {
    const nora = await newcomer('Nora Browses')
    const { page } = nora
    const [keys, kofi] = [new Keys(nora), callerOf(dev, 'kofi')]
    const name = unique('orchard')
    const id = await makeChannel(dev, name, [kofi])
    await nora.go('#inbox')
    await keys.enter(keys.main.getByRole('link', { name: 'Browse channels' }))
    await keys.write(page.getByRole('searchbox', { name: 'Find a channel' }), name)
    const row = keys.main.getByRole('listitem').filter({ hasText: name })
    await keys.enter(row.getByRole('button', { name: `Join ${name}` }))
    await expect(row.getByRole('button', { name: `Leave ${name}` })).toBeFocused()
    expect(await membersOf(nora, id)).toContain(nora.user.user_id)
    await expect(page.getByRole('navigation', { name: 'Places', exact: true }).getByText(name)).toBeVisible()

    await keys.press('Enter')
    await expect(row.getByRole('button', { name: `Join ${name}` })).toBeFocused()
    expect(await membersOf(nora, id)).not.toContain(nora.user.user_id)
    await keys.enter(row.getByRole('link', { name }))
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
    await expect(keys.main).toBeFocused()
})
