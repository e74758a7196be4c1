import { expect, test } from './people'

test('the page at the front door runs under its own strict policy', async ({ page, dev }) => {
    const complaints: string[] = []
    page.on('console', (message) => {
        if (/Content Security Policy|Refused to/.test(message.text())) complaints.push(message.text())
    })
    const reply = await page.goto(dev.url)
    expect(reply?.headers()['content-security-policy']).not.toContain('unsafe')
    await expect(page.locator('#app')).not.toBeEmpty()
    expect(complaints).toEqual([])
})

test('a language that cannot be fetched is said, and shown once it can be', async ({ browser, dev }) => {
    const context = await browser.newContext({ locale: 'de-DE' })
    const page = await context.newPage()
    await page.route(/assets\/de-[^/]*\.js/, (route) => route.abort())
    await page.goto(dev.url)
    const alert = page.getByRole('alert').filter({ hasText: 'Deutsch couldn’t be loaded' })
    await expect(alert).toBeVisible()
    await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
    await page.unroute(/assets\/de-[^/]*\.js/)
    await alert.getByRole('button', { name: 'Try again' }).click()
    await expect(page.getByRole('button', { name: 'Anmelden', exact: true })).toBeVisible()
    await expect(page.getByRole('alert')).toHaveCount(0)
    await context.close()
})
