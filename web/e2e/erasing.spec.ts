/** Owners erase people and place legal holds; whoever looks on sees it at once. */
import { expect, makeChannel, proveIt, test, unique } from './people'

test('an owner erases somebody for good, not while they are held, and others see their name go', async ({
    newcomer,
    dev,
}) => {
    const name = unique('Gone Soon')
    const [olga, mara] = [await newcomer('Olga Erases', { role: 100 }), await newcomer('Mara Looks on')]
    const leaver = await newcomer(name)
    const { page } = olga
    const id = await makeChannel(dev, unique('pier'), [mara, leaver])
    await leaver.send(id, 'boats', 'I was here')
    await mara.go(`#narrow/channel/${id}/topic/boats`)
    await expect(mara.page.getByRole('main').getByText(name).first()).toBeVisible({ timeout: 60_000 })

    await olga.go('#organization/holds')
    await page.getByLabel('Who', { exact: true }).fill(name)
    await page.getByRole('option', { name }).click()
    await page.getByLabel('What it’s for').fill('case 7')
    await page.getByRole('button', { name: 'Add hold', exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Add hold' }).click()
    await proveIt(olga)
    const hold = page.getByRole('list', { name: 'Legal holds' }).getByRole('listitem').filter({ hasText: name })
    await expect(hold.getByText('case 7')).toBeVisible()

    await olga.go('#organization/members')
    const open = async () => {
        await page.getByRole('main').getByLabel('Find people').fill(name)
        await page.getByRole('button', { name: `Edit ${name}` }).click()
    }
    await open()
    const erase = page.getByRole('button', { name: 'Erase for good' })
    await expect(page.getByText('A legal hold prevents this.')).toBeVisible()
    await expect(erase).toBeDisabled()

    await olga.go('#organization/holds')
    await hold.getByRole('button', { name: `End the hold on ${name}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End hold' }).click()
    await proveIt(olga)
    await expect(hold).toHaveCount(0)

    await olga.go('#organization/members')
    await open()
    await page.getByLabel('Their messages').selectOption('Keep, fully anonymous')
    await erase.click()
    await expect(page.getByRole('dialog').getByText('This can’t be undone.')).toBeVisible()
    await page.getByRole('dialog').getByRole('button', { name: 'Erase for good' }).click()
    await proveIt(olga)
    await expect(page.getByText(/^Erased /)).toBeVisible({ timeout: 90_000 })
    await page.getByText('Receipt').click()
    await expect(page.getByRole('row', { name: /^message / })).toBeVisible()
    await expect(mara.page.getByRole('main').getByText('Deleted users').first()).toBeVisible()
    await expect(mara.page.getByText(name)).toHaveCount(0)
})
