/** A picture of what Chromium says of the manifest, to be looked at: node e2e/look-install.mjs URL FILE */
import { chromium } from '@playwright/test'

const [url, file] = process.argv.slice(2)
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] })
const context = await browser.newContext({ viewport: { width: 860, height: 560 }, deviceScaleFactor: 2 })
const page = await context.newPage()
await page.goto(url)
const devtools = await context.newCDPSession(page)
const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors')
const { errors, data, url: address } = await devtools.send('Page.getAppManifest')
const manifest = JSON.parse(data)
const problems = [
    // A browser of a test remembers nothing: nothing is installed there, and that alone is no fault of the page.
    ...installabilityErrors.map((each) => each.errorId).filter((id) => id !== 'in-incognito'),
    ...errors.map((each) => each.message),
]
const dataOf = async (src) => {
    const answer = await context.request.get(new URL(src, url).href)
    return `data:image/png;base64,${(await answer.body()).toString('base64')}`
}
const shown = []
for (const icon of manifest.icons.filter((each) => each.sizes === '512x512')) {
    for (const shape of icon.purpose === 'any' ? ['0'] : ['50%', '24%', '0'])
        shown.push({ src: await dataOf(icon.src), shape, text: `${icon.purpose} ${icon.sizes}` })
}
shown.push({ src: await dataOf('/apple-touch-icon.png'), shape: '22%', text: 'apple-touch-icon 180x180' })
const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const rows = ['id', 'name', 'short_name', 'start_url', 'scope', 'display', 'theme_color', 'background_color']
    .map((key) => {
        const mark = key.endsWith('color') ? `<i style="background:${manifest[key]}"></i>` : ''
        return `<tr><th>${key}</th><td>${mark}${escape(String(manifest[key]))}</td></tr>`
    })
    .join('')
await page.goto('about:blank')
await page.setContent(`<style>
    body { font: 15px sans-serif; margin: 28px; background: #fff; color: #222 } h1 { font-size: 20px } th { text-align: left;
    font-weight: 400; color: #666; padding: 2px 24px 2px 0 } i { display: inline-block; width: 14px; height: 14px; border: 1px
    solid #999; margin-right: 8px; vertical-align: -2px } figure { display: inline-block; margin: 20px 16px 0 0; text-align:
    center; font-size: 12px; color: #666 } img { width: 120px; height: 120px; display: block; margin-bottom: 6px }
    </style><h1>Chromium ${browser.version()}: ${problems.length ? escape(problems.join(', ')) : 'can be installed, no complaint about the manifest'}</h1>
    <p>${escape(new URL(address).pathname)}</p><table>${rows}</table>
    ${shown.map((each) => `<figure><img src="${each.src}" style="border-radius:${each.shape}">${each.text}</figure>`).join('')}`)
await page.screenshot({ path: file })
await browser.close()
