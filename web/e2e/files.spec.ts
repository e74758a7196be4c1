/** Files go and come with the session: uploaded from the compose box, shown and fetched by who may read them. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { channelOf, expect, test, unique } from './people'
import { PICTURE } from './pictures'
import { TalkPage } from './talk-page'

test('a picture is uploaded, shown to the other, and to nobody else', async ({ person, dev, request }) => {
    const [ines, kofi] = [await person('ines'), await person('kofi')]
    const general = channelOf(dev, 'general')
    const topic = unique('picture')
    await ines.send(general, topic, 'Show me')
    const [hers, his] = [new TalkPage(ines.page), new TalkPage(kofi.page)]
    await Promise.all([ines, kofi].map((each) => each.go(`#narrow/channel/${general}/topic/${topic}`)))
    await Promise.all([hers.sees('Show me'), his.sees('Show me')])

    const name = `${unique('square')}.png`
    await kofi.page.locator('input[type="file"]').setInputFiles({ name, mimeType: 'image/png', buffer: PICTURE })
    await expect(his.box).toHaveValue(/user_uploads/)
    await his.box.press('Control+Enter')

    const link = ines.page.locator(`article[data-message] a[href*="/user_uploads/"]`).last()
    await expect(link).toBeVisible()
    const address = new URL((await link.getAttribute('href')) ?? '', dev.url).href
    const picture = hers.message('square').locator('.message-body img')
    await picture.click()
    const viewer = ines.page.getByRole('dialog', { name: 'Image' })
    await expect(viewer.getByRole('img')).toHaveJSProperty('naturalWidth', 8)
    await viewer.getByRole('button', { name: 'Zoom in' }).click()
    await expect(viewer.getByRole('button', { name: 'Zoom out' })).toBeEnabled()
    await ines.page.keyboard.press('Escape')
    await expect(viewer).toHaveCount(0)

    const mine = await ines.context.request.get(address)
    expect([mine.status(), mine.headers()['content-type']]).toEqual([200, 'image/png'])
    expect((await request.get(address)).status()).not.toBe(200)
})

test('a picture from elsewhere is fetched by the server, and by no reader', async ({ person, dev }) => {
    const asked: IncomingMessage[] = []
    const elsewhere = createServer((request, response) => {
        asked.push(request)
        response.writeHead(200, { 'content-type': 'image/png' }).end(PICTURE)
    })
    await new Promise<void>((listening) => elsewhere.listen(0, '127.0.0.1', listening))
    try {
        const address = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/cat.png`
        const [ines, kofi] = [await person('ines'), await person('kofi')]
        const general = channelOf(dev, 'general')
        const topic = unique('elsewhere')
        await ines.send(general, topic, `Look at this: ${address}`)
        for (const each of [ines, kofi]) {
            await each.go(`#narrow/channel/${general}/topic/${topic}`)
            const picture = new TalkPage(each.page).message('Look at this').locator('.message-body img')
            await expect(picture).toHaveAttribute('src', /^\/external_content\/.*840x560\.webp$/)
            await expect(picture).toHaveJSProperty('naturalWidth', 8)
            await picture.click()
            const viewer = each.page.getByRole('dialog', { name: 'Image' })
            await expect(viewer.getByRole('img')).toHaveJSProperty('naturalWidth', 8)
            await expect(viewer.getByRole('link', { name: 'Open in new tab' })).toHaveAttribute('href', address)
            await each.page.keyboard.press('Escape')
        }
        expect(asked.map((request) => request.headers['user-agent']?.split('/')[0])).toEqual(['Tertulia'])
    } finally {
        elsewhere.close()
    }
})
