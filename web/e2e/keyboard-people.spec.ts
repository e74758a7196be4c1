/** People without a mouse: their roles, their cards, invitations and groups. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, makeChannel, type Person, test, unique } from './people'
import { Keys } from './keyboard-only'
import { TalkPage } from './talk-page'

test('somebody gets another role after a question, is deactivated, and comes back', async ({ newcomer }) => {
    const [olga, name] = [await newcomer('Olga Roles', { role: 100 }), unique('Tom Role')]
    const tom = await newcomer(name)
    const { page } = olga
    const keys = new Keys(olga)
    const seen = async () => {
        const path = `users/${tom.user.user_id}`
        const { user } = await olga.call<{ user: { role: number; is_active: boolean } }>('GET', path)
        return [user.role, user.is_active]
    }
    await olga.go('#organization/members')
    await keys.write(keys.main.getByRole('textbox', { name: 'Find people' }), name)
    const role = page.getByRole('combobox', { name: `Role of ${name}` })
    await keys.reach(role)
    await keys.press('ArrowUp')
    await keys.type('Moderator')
    await keys.press('Enter')
    const question = page.getByRole('dialog', { name: `Change ${name}’s role to Moderator?` })
    await expect(question).toBeVisible()
    await keys.press('Escape')
    await expect(role.locator('option:checked')).toHaveText('Member')
    await expect(role).toBeFocused()
    expect(await seen()).toEqual([400, true])
    await keys.press('Space')
    await keys.type('Moderator')
    await keys.press('Enter')
    await keys.agree(`Change ${name}’s role to Moderator?`, 'Change role')
    await keys.prove()
    await expect.poll(seen).toEqual([300, true])

    await keys.enter(page.getByRole('button', { name: `Deactivate ${name}` }))
    await keys.agree(`Deactivate ${name}?`, 'Deactivate')
    await expect(page.getByRole('button', { name: `Reactivate ${name}` })).toBeFocused()
    expect(await seen()).toEqual([300, false])
    await keys.press('Enter')
    await expect(role).toBeFocused()
    expect(await seen()).toEqual([300, true])
})

test('somebody is renamed by an administrator, in the row that opens and closes by keys', async ({ newcomer }) => {
    const [ada, name] = [await newcomer('Ada Renames', { role: 200 }), unique('Tom Typo')]
    const tom = await newcomer(name)
    const { page } = ada
    const keys = new Keys(ada)
    await ada.go('#organization/members')
    await keys.write(keys.main.getByRole('textbox', { name: 'Find people' }), name)
    const edit = page.getByRole('button', { name: `Edit ${name}` })
    await keys.enter(edit)
    await keys.press('Escape')
    await expect(edit).toBeFocused()
    await keys.press('Enter')
    const after = unique('Tom Right')
    await keys.write(page.getByRole('textbox', { name: 'Name', exact: true }), after)
    await keys.press('Enter')
    await expect(page.getByRole('heading', { name: after })).toBeVisible()
    await expect(page.getByRole('textbox', { name: 'Name', exact: true })).toBeFocused()
    const { full_name } = await tom.call<{ full_name: string }>('GET', 'users/me')
    expect(full_name).toBe(after)
})

test('a card tells who somebody is, and leads to a talk with them', async ({ newcomer, dev }) => {
    const [nora, tom] = [await newcomer('Nora Asks'), await newcomer('Tom Baker')]
    const { page } = nora
    const [keys, talk] = [new Keys(nora), new TalkPage(page)]
    const id = await makeChannel(dev, unique('bakery'), [nora, tom])
    await tom.call('POST', 'users/me/status', { status_text: 'At the oven' })
    await tom.send(id, 'bread', 'Rye today')
    await nora.go(`#narrow/channel/${id}/topic/bread`)
    await talk.sees('Rye today')
    await expect(keys.main).toBeFocused()
    await keys.press('j')
    await expect(talk.message('Rye today')).toBeFocused()
    const name = talk.message('Rye today').getByRole('button', { name: 'Tom Baker' })
    await keys.enter(name)
    const card = page.getByRole('dialog', { name: 'Tom Baker' })
    await expect(card.getByText('At the oven')).toBeVisible()
    await keys.press('Escape')
    await expect(name).toBeFocused()
    await keys.press('Enter')
    await keys.enter(card.getByRole('link', { name: 'Send a message' }))
    await expect(card).toHaveCount(0)
    await expect(keys.main.getByRole('heading', { level: 1, name: 'Tom Baker' })).toBeVisible()
    await expect(keys.main).toBeFocused()
    await expect(talk.box).toBeVisible()
    await keys.press('c')
    await expect(talk.box).toBeFocused()
    await keys.type('Two loaves, please')
    await keys.press('Control+Enter')
    await talk.sees('Two loaves, please')
    await expect(talk.outgoing).toHaveCount(0)
    const { messages } = await tom.call<{ messages: { content: string }[] }>('GET', 'messages', {
        narrow: [{ operator: 'is', operand: 'dm' }],
        anchor: 'newest',
        num_before: 5,
        num_after: 0,
        apply_markdown: false,
    })
    expect(messages.map((each) => each.content)).toEqual(['Two loaves, please'])
})

test('somebody is found in the column of people, and written to', async ({ newcomer, dev }) => {
    const [nora, name] = [await newcomer('Nora Writes'), unique('Ute Found')]
    const ute = await newcomer(name)
    const { page } = nora
    const [keys, talk] = [new Keys(nora), new TalkPage(page)]
    const id = await makeChannel(dev, unique('yard'), [nora])
    await nora.go(`#narrow/channel/${id}/topic/snow`)
    const people = page.getByRole('complementary', { name: 'People' })
    await keys.write(people.getByRole('searchbox', { name: 'Find people' }), name)
    await keys.enter(people.getByRole('link', { name }))
    await expect(keys.main.getByRole('heading', { level: 1, name })).toBeVisible()
    await expect(talk.box).toBeVisible()
    await keys.press('c')
    await expect(talk.box).toBeFocused()
    await keys.type('Good morning')
    await keys.press('Control+Enter')
    await talk.sees('Good morning')
    await expect(talk.outgoing).toHaveCount(0)
    await ute.go('#inbox')
    await expect(ute.page.getByRole('main').getByText('Good morning')).toBeVisible()
})

interface Invitation {
    email?: string
    link_url?: string
    is_multiuse: boolean
}
const invitationsOf = async (person: Person) => (await person.call<{ invites: Invitation[] }>('GET', 'invites')).invites

test('somebody is invited by mail, once more, and then no longer', async ({ newcomer, dev }) => {
    const ada = await newcomer('Ada Invites', { role: 200 })
    const { page } = ada
    const keys = new Keys(ada)
    const address = `${unique('guest')}@example.com`
    const mails = () =>
        readdirSync(join(dev.folder, 'data', 'mail')).filter((name) => name.endsWith(`${address}.eml`)).length
    const invited = async () => (await invitationsOf(ada)).map((each) => each.email)
    await ada.go('#organization/invitations')
    const field = page.getByRole('textbox', { name: 'Email addresses' })
    await keys.enter(page.getByRole('button', { name: 'Send invitations' }))
    await expect(page.getByText('Enter at least one address.')).toBeVisible()
    await expect(field).toBeFocused()
    await keys.type(address)
    await keys.choose(page.getByRole('combobox', { name: 'They join as' }), 'Guest')
    await keys.enter(page.getByRole('button', { name: 'Send invitations' }))
    await keys.enter(page.getByRole('button', { name: `Resend to ${address}` }))
    await expect.poll(mails).toBe(2)
    expect(await invited()).toContain(address)

    await keys.enter(page.getByRole('button', { name: `Revoke ${address}` }))
    await keys.agree(`Revoke the invitation ${address}?`, 'Revoke')
    await expect(page.getByRole('button', { name: `Revoke ${address}` })).toHaveCount(0)
    expect(await invited()).not.toContain(address)
    await expect(page.locator('body'), 'the focus is on the next, or on what says that there is none').not.toBeFocused()
})

test('a link for many leads into a channel, until it is revoked', async ({ newcomer, dev, page: visitor }) => {
    const ada = await newcomer('Ada Links', { role: 200 })
    const { page } = ada
    const keys = new Keys(ada)
    const name = unique('lobby')
    await makeChannel(dev, name, [ada])
    await ada.go('#organization/invitations')
    await keys.choose(page.getByRole('combobox', { name: 'Invitation expires after' }), '3 days')
    const list = page.getByRole('combobox', { name: 'Add them to these channels, too' })
    await keys.reach(list)
    await keys.press('Space')
    await keys.type(name)
    await keys.press('Enter')
    const chosen = page.getByRole('list', { name: 'Add them to these channels, too' })
    await expect(chosen.getByText(name)).toBeVisible()
    await keys.enter(chosen.getByRole('button', { name: `Remove ${name}` }))
    await expect(list).toBeFocused()
    await keys.enter(page.getByRole('button', { name: 'Create a link' }))
    const link = await page.getByRole('status').filter({ hasText: 'Anyone with this link' }).locator('code').innerText()
    await visitor.goto(link)
    await expect(visitor.getByRole('heading', { name: /^Join/ })).toBeVisible()

    await keys.enter(page.getByRole('button', { name: `Revoke ${link}` }))
    await keys.agree(/^Revoke the invitation/, 'Revoke')
    await expect(page.getByRole('button', { name: `Revoke ${link}` })).toHaveCount(0)
    await visitor.goto('about:blank')
    await visitor.goto(link)
    await expect(visitor.getByRole('alert')).toContainText('isn’t valid')
})

interface Group {
    id: number
    name: string
    members: number[]
    deactivated: boolean
}

test('a group is made, renamed, filled and emptied, deactivated and taken back', async ({ newcomer }) => {
    const [nora, friend] = [await newcomer('Nora Groups', { role: 200 }), unique('Gil Group')]
    const gil = await newcomer(friend)
    const { page } = nora
    const keys = new Keys(nora)
    const [before, after] = [unique('bakers'), unique('millers')]
    const seen = async (name: string) => {
        const { user_groups } = await gil.call<{ user_groups: Group[] }>('GET', 'user_groups', {
            include_deactivated_groups: true,
        })
        return user_groups.find((group) => group.name === name)
    }
    await nora.go('#organization/groups')
    const fresh = page.getByRole('region', { name: 'New group' })
    await keys.write(fresh.getByRole('textbox', { name: 'Name', exact: true }), before)
    await keys.enter(fresh.getByRole('button', { name: 'Create group' }))
    await keys.enter(page.getByRole('button', { name: `Details of @${before}` }))
    const all = page.getByRole('region', { name: 'Groups', exact: true })
    await keys.write(all.getByRole('textbox', { name: 'Name', exact: true }), after)
    await keys.press('Enter')
    await expect(all.getByRole('heading', { name: `@${after}` })).toBeVisible()
    await keys.pick(all.getByRole('combobox', { name: 'Add people and groups' }), friend)
    await keys.press('Enter')
    const people = all.getByRole('list', { name: 'People', exact: true })
    await expect(people.getByText(friend)).toBeVisible()
    await expect(all.getByRole('combobox', { name: 'Add people and groups' })).toBeFocused()
    expect((await seen(after))?.members).toEqual([gil.user.user_id])

    await keys.enter(all.getByRole('button', { name: 'Join' }))
    await expect(all.getByRole('button', { name: 'Leave' })).toBeFocused()
    await keys.press('Enter')
    await expect(all.getByRole('button', { name: 'Join' })).toBeFocused()
    await keys.enter(people.getByRole('button', { name: `Remove ${friend}` }))
    await expect(people.getByText('No one is in this group.')).toBeFocused()
    expect((await seen(after))?.members).toEqual([])

    await keys.enter(all.getByRole('button', { name: 'Deactivate group' }))
    await keys.agree(`Deactivate @${after}?`, 'Deactivate group')
    await expect.poll(async () => (await seen(after))?.deactivated).toBe(true)
    await keys.enter(page.getByRole('button', { name: `Reactivate ${after}` }))
    await expect(page.getByRole('button', { name: `Details of @${after}` })).toBeVisible()
    expect((await seen(after))?.deactivated).toBe(false)
})
