/** Searching: filters that one can see, days, searches with a name, and the recent conversations. */
import { complaints } from './complaints'
import { callerOf, expect, makeChannel, test, unique } from './people'
import { TalkPage } from './talk-page'

test('filters write what one could type and read it back, the newest is first, and a search is saved', async ({
    newcomer,
    dev,
}) => {
    const sami = await newcomer('Sami Seeks')
    const { page } = sami
    const kofi = callerOf(dev, 'kofi')
    const [name, word] = [unique('attic'), unique('lantern').replaceAll('-', '')]
    const id = await makeChannel(dev, name, [sami, kofi])
    await kofi.send(id, 'shelf', `An old ${word}`)
    await kofi.send(id, 'shelf', `A ${word} https://example.com`)
    await sami.send(id, 'box', `My ${word}`)
    const field = page.getByRole('searchbox', { name: 'Search messages' })
    const found = page.getByRole('log').getByRole('article')
    const opener = (label: string) => page.getByRole('group', { name: 'Filters' }).getByRole('button', { name: label })

    await sami.go('#search')
    await expect(page.getByText('start with a filter')).toBeVisible()
    await field.fill(word.slice(0, -2))
    await field.press('Enter')
    await expect(found, 'a word that was only begun').toHaveText([/My/, /https/, /An old/])
    await expect(found.first().locator('.highlight')).toHaveText(word)
    await field.fill(word)
    await field.press('Enter')
    await expect(found).toHaveText([/My/, /https/, /An old/])

    await opener('From').click()
    await page.getByRole('combobox', { name: 'Sent by' }).fill('kofi m')
    await page.keyboard.press('Enter')
    await expect(field).toHaveValue(`sender:"Kofi Mensah" ${word}`)
    await expect(found).toHaveText([/https/, /An old/])
    await opener('Has').click()
    await page.getByRole('menuitemcheckbox', { name: 'Has a link' }).click()
    await expect(field).toHaveValue(`sender:"Kofi Mensah" has:link ${word}`)
    await expect(found).toHaveText([/https/])

    await field.fill(`channel:${name} topic:box ${word}`)
    await field.press('Enter')
    const filters = page.getByRole('list', { name: 'Active filters' })
    await expect(filters.getByRole('listitem')).toHaveText([`In #${name}`, 'Topic “box”'])
    await expect(found).toHaveText([/My/])
    await field.fill(`has:link has:link ${word}`)
    await field.press('Enter')
    await expect(filters.getByRole('listitem')).toHaveText(['Has a link', 'Has a link'])
    await expect(found).toHaveText([/https/])
    await field.fill(`channel:${name} topic:box ${word}`)
    await field.press('Enter')
    await opener('Has').click()
    await page.getByRole('menuitemcheckbox', { name: 'Has an image' }).click()
    await expect(page.getByText('No results')).toBeVisible()
    expect(await complaints(page, null)).toEqual([])
    await page.getByRole('link', { name: 'Search everywhere' }).click()
    await expect(found).toHaveCount(3)

    await page.getByRole('button', { name: 'Save this search' }).click()
    await page.getByRole('textbox', { name: 'Name' }).fill('Lights')
    await page.keyboard.press('Enter')
    await page.reload()
    await sami.go('#search')
    await page.getByRole('navigation', { name: 'Saved searches' }).getByRole('link', { name: 'Lights' }).click()
    await expect(found).toHaveCount(3)
    await page.keyboard.press('j')
    await expect(found.first()).toBeFocused()
    await field.fill('is:dm channel:general')
    await field.press('Enter')
    await expect(page.getByRole('heading', { name: 'This search doesn’t work' })).toBeVisible()
})

test('a conversation opens at a day, and is searched from its head', async ({ newcomer, dev }) => {
    const sami = await newcomer('Sami Dates')
    const { page } = sami
    const kofi = callerOf(dev, 'kofi')
    const id = await makeChannel(dev, unique('diary'), [sami, kofi])
    for (let line = 1; line <= 120; line += 1) await kofi.send(id, 'days', `Line ${line}.`)
    const talk = new TalkPage(page)
    await sami.go(`#narrow/channel/${id}/topic/days`)
    await expect(talk.list).toBeVisible()
    await page.keyboard.press('End')
    await talk.sees('Line 120.')

    await page.getByRole('main').getByRole('button', { name: 'More', exact: true }).first().click()
    await page.getByRole('menuitem', { name: 'Jump to a date' }).click()
    await page.getByRole('dialog', { name: 'Jump to a date' }).getByRole('button', { name: 'A week ago' }).click()
    await expect(talk.message('Line 1.')).toBeInViewport()
    await expect(page).toHaveURL(/near\/\d+$/)

    await page.getByRole('button', { name: 'Search this conversation' }).click()
    await expect(page).toHaveURL(/#search\/channel\/.*\/topic\/days$/)
    await expect(page.getByRole('list', { name: 'Active filters' }).getByRole('listitem')).toHaveCount(2)
    await expect(page.getByRole('log').getByRole('article').first()).toContainText('Line 120.')
})

test('recent conversations say their newest line, and are filtered by several filters at once', async ({
    newcomer,
    dev,
}) => {
    const sami = await newcomer('Sami Recent')
    const { page } = sami
    const kofi = callerOf(dev, 'kofi')
    const id = await makeChannel(dev, unique('porch'), [sami, kofi])
    await sami.send(id, 'chairs', 'I have two')
    for (const each of ['ines', 'anton', 'mairead', 'yuki', 'lea']) {
        const other = callerOf(dev, each)
        await other.call('POST', 'users/me/subscriptions', { subscriptions: [{ name: await nameOf(id) }] })
        await other.send(id, 'chairs', `I have *none*, says ${each}`)
    }
    await kofi.send(id, 'tables', 'One with **three** legs')
    await kofi.call('POST', 'messages', { type: 'direct', to: [sami.user.user_id], content: 'Are you there?' })
    await sami.go('#recent')
    const lines = page.getByRole('main').getByRole('listitem')
    await expect(lines).toHaveText([/Are you there/, /One with three legs/, /I have none, says lea/])

    const filter = (name: string) => page.getByRole('main').getByRole('button', { name, exact: true })
    await filter('Participated').click()
    await expect(lines, 'however long ago').toHaveText([/I have none/])
    await filter('Direct').click()
    await expect(page.getByText('No matching conversations')).toBeVisible()
    await filter('Show all').click()
    await filter('Channels').click()
    await expect(lines).toHaveCount(2)
    await filter('Unread').click()
    await expect(lines).toHaveText([/One with three/, /I have none/])

    async function nameOf(channelId: number): Promise<string> {
        const { stream } = await sami.call<{ stream: { name: string } }>('GET', `streams/${channelId}`)
        return stream.name
    }
})
