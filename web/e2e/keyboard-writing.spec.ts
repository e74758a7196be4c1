/** Writing by keys alone: what is completed, put in, put off, and to whom. */
import { type Caller, callerOf, expect, makeChannel, type Person, test, unique } from './people'
import { type Typist, typistAt } from './typist'

/** In the compose box of a topic of their own, with somebody who reads it. */
async function writer(person: Person, kofi: Caller): Promise<{ at: Typist; id: number; name: string; topic: string }> {
    const [name, topic] = [unique('desk'), unique('page')]
    const id = await makeChannel(person.dev, name, [person, kofi])
    await kofi.send(id, topic, 'Begin')
    const at = await typistAt(person, `#narrow/channel/${id}/topic/${topic}`)
    await at.sees('Begin')
    await at.press('c')
    await expect(at.box).toBeFocused()
    return { at, id, name, topic }
}

test('people, channels, topics, emoji and commands are taken from what is offered, or not', async ({
    newcomer,
    dev,
}) => {
    const [wanda, kofi] = [await newcomer('Wanda Completes'), callerOf(dev, 'kofi')]
    const { at, id, name, topic } = await writer(wanda, kofi)
    const offered = wanda.page.getByRole('option', { selected: true })
    const mention = `@**${'Kofi Mensah'}** `

    await at.type('Hi @kofi m')
    await expect(offered).toHaveText(/Kofi Mensah/)
    await at.press('Enter')
    await expect(at.box).toHaveValue(`Hi ${mention}`)
    await at.type('@kofi')
    await expect(offered).toHaveText(/Kofi Mensah/)
    await at.press('Escape')
    await expect(offered).toHaveCount(0)
    await expect(at.box, 'only the list is left').toBeFocused()
    await expect(at.box).toHaveValue(`Hi ${mention}@kofi`)
    for (let letter = 0; letter < 5; letter += 1) await at.press('Backspace')

    await at.type(`#${name}`)
    await expect(offered).toHaveText(name)
    await at.press('Tab')
    await expect(at.box).toHaveValue(`Hi ${mention}#**${name}** `)
    await at.type(`#**${name}>${topic}`)
    await expect(offered).toHaveText(topic)
    await at.press('Enter')
    await at.type(':octo')
    await expect(offered).toHaveText(/:octopus:/)
    await at.press('Tab')
    await at.press('Control+Enter')
    const said = `Hi ${mention}#**${name}** #**${name}>${topic}** :octopus:`
    await expect.poll(() => kofi.texts(id, topic)).toEqual(['Begin', said])

    await expect(at.box).toHaveValue('')
    await at.type('/')
    await expect(offered).toHaveText(/^\s*\/me/)
    await at.press('ArrowUp')
    await expect(offered).toHaveText(/\/todo/)
    await at.press('Enter')
    await expect(at.box).toHaveValue('/todo ')
})

test('a poll and a list of things to do are made part by part', async ({ newcomer, dev }) => {
    const [wanda, kofi] = [await newcomer('Wanda Asks'), callerOf(dev, 'kofi')]
    const { page } = wanda
    const { at, id, topic } = await writer(wanda, kofi)
    const more = page.getByRole('button', { name: 'Add a poll, to-do list or snippet' })
    const dialog = page.getByRole('dialog')

    await at.type('Which red?')
    await at.tabTo(more)
    await at.press('Enter')
    await at.choice('Poll')
    await expect(dialog.getByLabel('Question')).toBeFocused()
    await expect(dialog.getByLabel('Question')).toHaveValue('Which red?')
    await at.press('Tab')
    await at.type('Brick')
    await at.press('Enter')
    await at.type('Wine')
    await at.press('Enter')
    await at.press('Enter')
    await expect(at.box).toBeFocused()
    await at.press('Control+Enter')
    await expect(at.message('Which red?').getByRole('button', { name: /^Wine/ })).toBeVisible()

    await at.tabTo(more)
    await at.press('Space')
    await at.choice('To-do list')
    await expect(dialog.getByLabel('Title')).toBeFocused()
    await at.type('Paint')
    await at.press('Tab')
    await at.type('Buy brushes')
    await at.press('Enter')
    await at.press('Enter')
    await expect(at.box).toBeFocused()
    await at.press('Control+Enter')
    await expect(at.message('Paint').getByRole('checkbox', { name: 'Buy brushes' })).toBeVisible()
    await expect
        .poll(() => kofi.texts(id, topic))
        .toEqual(['Begin', '/poll Which red?\nBrick\nWine', '/todo Paint\nBuy brushes'])
})

test('a snippet is kept, used, deleted, and brought back', async ({ newcomer, dev }) => {
    const [wanda, kofi] = [await newcomer('Wanda Repeats'), callerOf(dev, 'kofi')]
    const { page } = wanda
    const { at, id, topic } = await writer(wanda, kofi)
    const more = page.getByRole('button', { name: 'Add a poll, to-do list or snippet' })
    const kept = async () => {
        const answer = await wanda.call<{ saved_snippets: Record<string, unknown>[] }>('GET', 'saved_snippets')
        return answer.saved_snippets.map((each) => [each['title'], each['content']])
    }
    const open = async () => {
        await at.tabTo(more)
        await at.press('Enter')
        await at.choice('Saved snippets')
    }

    await at.type('Thank you for asking')
    await open()
    await expect(page.getByRole('button', { name: 'New snippet' })).toBeFocused()
    await at.press('Enter')
    await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
    await at.type('Thanks')
    await at.press('Enter')
    await expect.poll(kept).toEqual([['Thanks', 'Thank you for asking']])
    await expect(page.getByRole('dialog', { name: 'Saved snippets' }).locator(':focus')).toHaveCount(1)
    await at.press('Escape')
    await expect(more).toBeFocused()

    await at.press('c')
    await expect(at.box).toBeFocused()
    await at.press('Control+a')
    await at.press('Delete')
    await open()
    await expect(page.getByRole('textbox', { name: 'Find a snippet' })).toBeFocused()
    await at.type('than')
    await at.press('Tab')
    await expect(page.getByRole('button', { name: /^Thanks/ })).toBeFocused()
    await at.press('Enter')
    await expect(at.box).toBeFocused()
    await at.press('Control+Enter')
    await expect.poll(() => kofi.texts(id, topic)).toEqual(['Begin', 'Thank you for asking'])

    await open()
    await at.tabTo(page.getByRole('button', { name: 'Delete Thanks' }))
    await at.press('Enter')
    await expect.poll(kept).toEqual([])
    await expect(page.getByText('Thanks was deleted.')).toBeVisible()
    await expect(more).toBeFocused()
    await at.press('z')
    await expect.poll(kept).toHaveLength(1)
})

test('a message is put off till tomorrow, looked at, taken back, and sent', async ({ newcomer, dev }) => {
    const [wanda, kofi] = [await newcomer('Wanda Waits'), callerOf(dev, 'kofi')]
    const { page } = wanda
    const { at, id, topic } = await writer(wanda, kofi)
    const waiting = async () => {
        const answer = await wanda.call<{ scheduled_messages: { content: string }[] }>('GET', 'scheduled_messages')
        return answer.scheduled_messages.map((each) => each.content)
    }
    for (const text of ['Not yet', 'Not ever']) {
        await at.type(text)
        await at.tabTo(page.getByRole('button', { name: 'Send later' }))
        await at.press('Enter')
        const times = page.getByRole('dialog', { name: 'Send later' })
        await expect(times.getByRole('button', { name: 'In an hour' })).toBeFocused()
        await at.tabTo(times.getByRole('button', { name: 'Tomorrow morning' }))
        await at.press('Enter')
        await expect.poll(waiting).toContain(text)
        await expect(at.box).toBeFocused()
        await expect(at.box).toHaveValue('')
    }

    await at.press('Escape')
    await at.press('z')
    await expect(page, 'the line offered to show it').toHaveURL(/#scheduled$/)
    const line = (text: string) => at.main.getByRole('listitem').filter({ hasText: text })
    await at.tabTo(line('Not ever').getByRole('button', { name: 'Delete' }))
    await at.press('Enter')
    const question = page.getByRole('dialog', { name: 'Delete the scheduled message?' })
    await at.tabTo(question.getByRole('button', { name: 'Delete' }))
    await at.press('Enter')
    await expect.poll(waiting).toEqual(['Not yet'])
    await expect(line('Not yet').getByRole('link'), 'the focus is in the line that is left').toBeFocused()
    await at.tabTo(line('Not yet').getByRole('button', { name: 'Unschedule and edit' }))
    await at.press('Enter')
    await expect.poll(waiting).toEqual([])
    await expect(at.box).toHaveValue('Not yet')
    expect(await kofi.texts(id, topic)).toEqual(['Begin'])
    await at.press('c')
    await expect(at.box).toBeFocused()
    await at.press('Control+Enter')
    await expect.poll(() => kofi.texts(id, topic)).toEqual(['Begin', 'Not yet'])
})

test('a draft is found again, thrown away, brought back, and finished', async ({ newcomer, dev }) => {
    const [wanda, kofi] = [await newcomer('Wanda Drafts'), callerOf(dev, 'kofi')]
    const { at, id, topic } = await writer(wanda, kofi)
    const drafts = async () => {
        const answer = await wanda.call<{ drafts: { content: string }[] }>('GET', 'drafts')
        return answer.drafts.map((each) => each.content)
    }
    await at.type('Half a')
    await at.press('Escape')
    await expect.poll(drafts).toEqual(['Half a'])
    await at.find('Drafts')
    const line = at.main.getByRole('listitem').filter({ hasText: 'Half a' })
    await at.tabTo(line.getByRole('button', { name: 'Delete draft' }))
    await at.press('Enter')
    await expect.poll(drafts).toEqual([])
    await expect(at.main).toBeFocused()
    await at.press('z')
    await expect.poll(drafts).toEqual(['Half a'])
    await at.tabTo(line.getByRole('button', { name: 'Keep writing' }))
    await at.press('Enter')
    await expect(at.box).toHaveValue('Half a')
    await at.press('c')
    await expect(at.box).toBeFocused()
    await at.type(' loaf')
    await at.press('Control+Enter')
    await expect.poll(() => kofi.texts(id, topic)).toEqual(['Begin', 'Half a loaf'])
    await expect.poll(drafts).toEqual([])
})

test('a file is added, looked at before it goes out, and read by the other', async ({ newcomer, dev }) => {
    const [wanda, kofi] = [await newcomer('Wanda Sends'), callerOf(dev, 'kofi')]
    const { page } = wanda
    const { at, id, topic } = await writer(wanda, kofi)
    const file = { name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from('tea, cake') }
    // A browser that is busy may lose the key that opens its dialog: who sees none presses again.
    await expect(async () => {
        const asked = page.waitForEvent('filechooser', { timeout: 5_000 })
        await at.tabTo(page.getByRole('button', { name: 'Add files' }))
        await at.press('Enter')
        await (await asked).setFiles(file)
    }).toPass({ timeout: 30_000 })
    await expect(at.box).toHaveValue(/^\[list\.txt\]\(\/user_uploads\/.*\) $/)
    await expect(at.box).toBeFocused()
    await at.type('is **all**')

    await at.tabTo(page.getByRole('button', { name: 'Preview' }))
    await at.press('Enter')
    const compose = page.getByRole('region', { name: 'Write a message' })
    await expect(compose.getByRole('link', { name: 'list.txt' })).toBeVisible()
    await expect(compose.locator('strong')).toHaveText('all')
    await at.press('Enter')
    await expect(at.box).toBeFocused()
    await at.press('Control+Enter')
    await expect.poll(async () => (await kofi.texts(id, topic)).at(-1)).toMatch(/^\[list\.txt\]\(.*\) is \*\*all\*\*$/)
    const [address] = /\/user_uploads\/[^)]+/.exec((await kofi.texts(id, topic)).at(-1) ?? '') ?? ['']
    const { url } = await kofi.call<{ url: string }>('GET', address.slice(1))
    expect(await (await fetch(dev.url + url)).text()).toBe('tea, cake')
})

test('words are made bold, struck, code and a list while one types', async ({ newcomer, dev }) => {
    const [wanda, kofi] = [await newcomer('Wanda Formats'), callerOf(dev, 'kofi')]
    const { at, id, topic } = await writer(wanda, kofi)
    const back = async (words: number) => {
        for (let word = 0; word < words; word += 1) await at.press('Control+Shift+ArrowLeft')
    }
    await at.type('- Bring tea')
    await back(1)
    await at.press('Control+b')
    await expect(at.box).toHaveValue('- Bring **tea**')
    await at.press('End')
    await at.press('Enter')
    await expect(at.box, 'a list goes on').toHaveValue('- Bring **tea**\n- ')
    await at.type('or milk')
    await back(1)
    await at.press('Control+Shift+X')
    await at.press('End')
    await at.press('Enter')
    await at.press('Enter')
    await expect(at.box, 'and ends at an empty line').toHaveValue(/~~milk~~\n$/)
    await at.type('code')
    await back(1)
    await at.press('Control+Shift+C')
    await at.press('Control+Enter')
    await expect.poll(() => kofi.texts(id, topic)).toEqual(['Begin', '- Bring **tea**\n- or ~~milk~~\n`code`'])
})

test('a direct message is begun with two people, one is taken out again, and it arrives', async ({ newcomer, dev }) => {
    const [wanda, kofi] = [await newcomer('Wanda Invites'), callerOf(dev, 'kofi')]
    const { page } = wanda
    const at = await typistAt(wanda, '#inbox')
    await at.tabTo(page.getByRole('button', { name: 'New direct message' }))
    await at.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New direct message' })
    const field = dialog.getByRole('combobox', { name: 'Names of people' })
    const chips = dialog.getByRole('button', { name: /^Remove / })
    await expect(field).toBeFocused()
    for (const name of ['Kofi Mensah', 'Inés Aldecoa']) {
        await at.type(name)
        await expect(page.getByRole('option', { name, selected: true })).toBeVisible()
        await at.press('Enter')
        await expect(field).toHaveValue('')
    }
    await expect(chips).toHaveCount(2)
    await at.press('Backspace')
    await expect(chips).toHaveCount(1)
    await expect(chips).toHaveAccessibleName('Remove Kofi Mensah')
    await at.tabTo(dialog.getByRole('button', { name: 'Start conversation' }))
    await at.press('Enter')
    await expect(page).toHaveURL(/narrow\/dm\/\d+/)
    await at.press('c')
    await expect(at.box).toBeFocused()
    const word = unique('tea')
    await at.type(word)
    await at.press('Control+Enter')
    const received = async () => {
        const { messages } = await kofi.call<{ messages: { content: string; display_recipient: object[] }[] }>(
            'GET',
            'messages',
            {
                narrow: [{ operator: 'dm', operand: [wanda.user.user_id] }],
                anchor: 'newest',
                num_before: 5,
                num_after: 0,
                apply_markdown: false,
            },
        )
        return messages.map((each) => [each.content, each.display_recipient.length])
    }
    await expect.poll(received).toEqual([[word, 2]])
})
