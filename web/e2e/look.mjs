/** Screenshots of the main views, to be looked at: node e2e/look.mjs URL EMAIL PASSWORD FOLDER [name ...]
 *  Each in three sizes, light and dark. Prints what the browser complained of. */
import { mkdirSync } from 'node:fs'
import { chromium } from '@playwright/test'

const [url, email, password, folder, ...only] = process.argv.slice(2)
const FLAGS = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--no-first-run',
]
const SIZES = { wide: [1440, 900], middle: [1024, 768], phone: [390, 844] }
const VIEWS = (process.env['VIEWS'] ?? 'feed=#feed').split(';').map((each) => each.split('='))

mkdirSync(folder, { recursive: true })
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: FLAGS })
const seen = new Set()
for (const [size, [width, height]] of Object.entries(SIZES)) {
    for (const theme of ['light', 'dark']) {
        if (only.length && !only.includes(size) && !only.includes(theme)) continue
        const context = await browser.newContext({
            viewport: { width, height },
            colorScheme: theme,
            hasTouch: size === 'phone',
            isMobile: size === 'phone',
        })
        const page = await context.newPage()
        page.on('console', (message) => {
            if (message.type() !== 'error' && message.type() !== 'warning') return
            if (!seen.has(message.text())) console.log(`${size} ${theme}: ${message.text()}`)
            seen.add(message.text())
        })
        page.on('pageerror', (error) => console.log(`${size} ${theme}: ${error.stack}`))
        await page.goto(url)
        await page.waitForSelector('input[name=username]')
        if (VIEWS.some(([name]) => name === 'signin'))
            await page.screenshot({ path: `${folder}/signin-${size}-${theme}.png` })
        await page.fill('input[name=username]', email)
        await page.fill('input[name=password]', password)
        await page.click('button[type=submit]')
        await page.waitForSelector('#talk')
        for (const [name, hash, ...steps] of VIEWS) {
            if (name === 'signin') continue
            await page.evaluate((to) => (location.hash = to), hash)
            await page.waitForTimeout(900)
            for (const step of steps) await page.evaluate(step)
            if (steps.length) await page.waitForTimeout(400)
            await page.screenshot({ path: `${folder}/${name}-${size}-${theme}.png` })
        }
        await context.close()
    }
}
await browser.close()
