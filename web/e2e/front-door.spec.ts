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
