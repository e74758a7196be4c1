/** Pinned messages: in the head of a conversation for everybody there, live, with the way to each. */
import { expect, makeChannel, test, unique } from './people'
import { TalkPage } from './talk-page'

test('what one pins the other sees at once in the head of the topic, goes there, and unpins it; a guest only looks', async ({
    newcomer,
    dev,
}) => {
    const [ada, bo, gus] = [
        await newcomer('Ada Pins'),
        await newcomer('Bo Sees'),
        await newcomer('Gus Guest', { role: 600 }),
    ]
    const id = await makeChannel(dev, unique('board'), [ada, bo, gus])
    await ada.send(id, 'rules', 'Be kind to the plants')
    for (let number = 1; number <= 3; number += 1) await bo.send(id, 'rules', `Remark ${number}`)
    const [hers, his] = [new TalkPage(ada.page), new TalkPage(bo.page)]
    for (const who of [ada, bo, gus]) await who.go(`#narrow/channel/${id}/topic/rules`)
    await Promise.all([hers.sees('Remark 3'), his.sees('Remark 3')])
    const count = bo.page.getByRole('button', { name: '1 pinned message' })
    await expect(count).toHaveCount(0)
    await hers.choose('Be kind to the plants', 'Pin for everyone here')
    await count.click()
    const panel = bo.page.getByRole('dialog', { name: 'Pinned messages' })
    const list = bo.page.getByRole('list', { name: 'Pinned messages' })
    await expect(list.getByRole('listitem')).toContainText(['Be kind to the plants'])
    await list.getByRole('button', { name: /Be kind/ }).click()
    await expect(bo.page).toHaveURL(/near/)

    await gus.page.getByRole('button', { name: '1 pinned message' }).click()
    await expect(gus.page.getByRole('list', { name: 'Pinned messages' })).toContainText('Be kind')
    await expect(gus.page.getByRole('button', { name: /^Unpin/ })).toHaveCount(0)

    await list.getByRole('button', { name: 'Unpin Ada Pins’s message' }).click()
    await expect(list.getByRole('listitem')).toHaveCount(0)
    await expect(panel.or(list).first()).toBeAttached()
    await expect(ada.page.getByRole('button', { name: '1 pinned message' })).toHaveCount(0)
})
