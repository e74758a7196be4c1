/** Running an organization: what newcomers begin with, tokens of directories, topics that go; and one's own files. */
import { expect, makeChannel, newcomerTo, ownerOf, proveIt, test, unique, Caller } from './people'
import { TalkPage } from './talk-page'

test('an administrator chooses what new people begin with; those who are there keep theirs', async ({
    newcomer,
    dev,
}) => {
    const [ada, bo] = [await newcomer('Ada Defaults', { role: 200 }), await newcomer('Bo Before')]
    const { page } = ada
    try {
        await ada.go('#organization/defaults')
        await page.getByLabel('Follow topics', { exact: true }).selectOption('I post in')
        const clock = page.getByRole('switch', { name: '24-hour clock' })
        await clock.check()
        await page.reload()
        await expect(clock).toBeChecked()
        const settingsOf = async (who: Caller) => {
            const state = await who.call<{ user_settings: object }>('POST', 'register', {
                fetch_event_types: ['user_settings'],
            })
            return state.user_settings
        }
        const later = new Caller(dev, await newcomerTo(dev, 'Lea Later'))
        expect(await settingsOf(later)).toMatchObject({
            automatically_follow_topics_policy: 2,
            twenty_four_hour_time: true,
        })
        for (const before of [bo, ada]) expect(await settingsOf(before)).toMatchObject({ twenty_four_hour_time: false })
        await bo.go('#organization/defaults')
        await expect(bo.page.getByRole('link', { name: 'General' })).toHaveAttribute('aria-current', 'page')
    } finally {
        await ownerOf(dev).call('PATCH', 'realm/user_settings_defaults', {
            automatically_follow_topics_policy: 3,
            twenty_four_hour_time: false,
        })
    }
})

test('an owner makes a token for a directory, sees it once, and revokes it', async ({ newcomer, dev }) => {
    const olga = await newcomer('Olga Directory', { role: 100 })
    const { page } = olga
    const name = unique('entra')
    await olga.go('#organization/directories')
    await page.getByLabel('What it’s for').fill(name)
    await page.getByRole('button', { name: 'Create token' }).click()
    await proveIt(olga)
    const shown = page.getByRole('status').filter({ hasText: `Copy the token for ${name}` })
    const token = (await shown.locator('code').textContent()) ?? ''
    const asks = async () => {
        const answer = await fetch(`${dev.url}/scim/v2/Users?count=1`, {
            headers: { Authorization: `Bearer ${token}` },
        })
        return answer.status
    }
    expect(await asks()).toBe(200)
    await page.reload()
    const row = page.getByRole('list', { name: 'Directory tokens' }).getByRole('listitem').filter({ hasText: name })
    await expect(row).toContainText('Olga Directory')
    await expect(shown).toHaveCount(0)
    await row.getByRole('button', { name: `Revoke the token ${name}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await proveIt(olga)
    await expect(row).toHaveCount(0)
    expect(await asks()).toBe(401)
})

test('an administrator deletes a topic after a question; others cannot', async ({ newcomer, dev }) => {
    const [ada, bo] = [await newcomer('Ada Sweeps', { role: 200 }), await newcomer('Bo Watches')]
    const { page } = ada
    const channel = unique('attic')
    const id = await makeChannel(dev, channel, [ada, bo])
    for (const topic of ['boxes', 'lamps', 'chairs']) await bo.send(id, topic, `Old ${topic}`)
    await bo.go(`#narrow/channel/${id}/topic/boxes`)
    await new TalkPage(bo.page).sees('Old boxes')
    await bo.page.locator('#talk').getByRole('button', { name: 'More', exact: true }).first().click()
    await expect(bo.page.getByRole('menuitem', { name: 'Channel settings' })).toBeVisible()
    await expect(bo.page.getByRole('menuitem', { name: 'Delete topic' })).toHaveCount(0)
    await bo.page.keyboard.press('Escape')

    await ada.go(`#narrow/channel/${id}/topic/boxes`)
    await new TalkPage(page).sees('Old boxes')
    const open = () => page.locator('#talk').getByRole('button', { name: 'More', exact: true }).first().click()
    await open()
    await page.getByRole('menuitem', { name: 'Delete topic' }).click()
    const question = page.getByRole('dialog', { name: 'Delete the topic boxes?' })
    await question.getByRole('button', { name: 'Cancel' }).click()
    expect(await ada.texts(id, 'boxes')).toEqual(['Old boxes'])
    await open()
    await page.getByRole('menuitem', { name: 'Delete topic' }).click()
    await question.getByRole('button', { name: 'Delete topic' }).click()
    await expect(bo.page.getByText('Old boxes')).toHaveCount(0)
    expect(await ada.texts(id, 'boxes')).toEqual([])
    expect(await ada.texts(id, 'lamps')).toEqual(['Old lamps'])
})

test('somebody sees their files and the room they take, goes to the message of one, and deletes one', async ({
    newcomer,
    dev,
}) => {
    const nora = await newcomer('Nora Files')
    const { page } = nora
    const id = await makeChannel(dev, unique('shelf'), [nora])
    const upload = async (name: string, size: number): Promise<string> => {
        const answer = await nora.context.request.post('/api/v1/user_uploads', {
            headers: { Authorization: 'Basic ' + btoa(`${nora.user.email}:${nora.user.api_key}`) },
            multipart: { file: { name, mimeType: 'text/plain', buffer: Buffer.alloc(size, 'a') } },
        })
        return ((await answer.json()) as { url: string }).url
    }
    const url = await upload('plan.txt', 2000)
    await nora.send(id, 'plans', `Here it is: [plan.txt](${url})`)
    await nora.go('#settings/files')
    const list = page.getByRole('list', { name: 'Files' })
    await expect(page.getByText('You have 1 file, 2 kB.')).toBeVisible()
    await upload('notes.txt', 3000)
    await expect(page.getByText('You have 2 files, 5 kB in total.')).toBeVisible()
    await expect(list.getByRole('listitem').first()).toContainText('notes.txt')
    await expect(list.getByRole('listitem').first()).toContainText('not in any message')

    await list.getByRole('button', { name: 'Delete plan.txt' }).click()
    await expect(page.getByRole('dialog', { name: 'Delete plan.txt?' })).toContainText('no one can open the file')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await list.getByRole('button', { name: 'Delete notes.txt' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect(page.getByText('You have 1 file, 2 kB.')).toBeVisible()
    const { attachments } = await nora.call<{ attachments: { name: string }[] }>('GET', 'attachments')
    expect(attachments.map((each) => each.name)).toEqual(['plan.txt'])
    await list.getByRole('button', { name: 'Go to the message with plan.txt' }).click()
    await new TalkPage(page).sees('Here it is')
})
