/** Taking out what is there: the organization by its owners, and one's own data by everybody. */
import { readFileSync } from 'node:fs'
import { expect, makeChannel, proveIt, test, unique } from './people'

test('an owner has the organization exported, sees how far it is, downloads and deletes it; another owner sees the same', async ({
    newcomer,
    dev,
}) => {
    const [olga, otto] = [await newcomer('Olga Exports', { role: 100 }), await newcomer('Otto Looks on', { role: 100 })]
    const { page } = olga
    const word = unique('harbour')
    const id = await makeChannel(dev, unique('quay'), [olga])
    await olga.send(id, 'boats', word)
    await otto.go('#organization/exports')
    const seen = otto.page.getByRole('list', { name: 'Archives' }).getByRole('listitem').filter({ hasText: 'Olga' })

    await olga.go('#organization/exports')
    await expect(page.getByText(/^\d+ of \d+ agree/)).toBeVisible()
    await page.getByLabel('What to include').selectOption('Also private data of those who agree')
    await page.getByRole('button', { name: 'Create export' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create export' }).click()
    await proveIt(olga)
    const row = page.getByRole('list', { name: 'Archives' }).getByRole('listitem').filter({ hasText: 'Olga' })
    await expect(row.getByText(/messages, .* until/)).toBeVisible({ timeout: 60_000 })
    await expect(seen.getByText(/messages, .* until/)).toBeVisible()
    const downloading = page.waitForEvent('download')
    await row.getByRole('link', { name: 'Download' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toMatch(/^export-consenting-.*\.tar$/)
    expect(readFileSync(await download.path()).includes(word)).toBe(true)

    await row.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await expect(row.getByText('Deleted')).toBeVisible()
    await expect(seen.getByText('Deleted')).toBeVisible()
    await expect(seen.getByRole('link', { name: 'Download' })).toHaveCount(0)
})

test('somebody makes a copy of their own data, and agrees to exports', async ({ newcomer }) => {
    const mara = await newcomer('Mara Member')
    const { page } = mara
    await mara.go('#settings/data')
    await page.getByRole('button', { name: 'Create a copy' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create a copy' }).click()
    await proveIt(mara)
    const row = page.getByRole('list', { name: 'Archives' }).getByRole('listitem')
    const downloading = page.waitForEvent('download')
    await row.getByRole('link', { name: 'Download' }).click({ timeout: 60_000 })
    expect((await downloading).suggestedFilename()).toMatch(/^my-data-.*\.tar$/)
    const agree = page.getByRole('switch', { name: 'Allow owners to export my private data' })
    await agree.check()
    await page.reload()
    await expect(agree).toBeChecked()
    await mara.go('#organization/exports')
    await expect(page.getByRole('main').getByRole('link', { name: 'Exports' })).toHaveCount(0)
})
