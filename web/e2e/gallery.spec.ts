/** Every component of `src/ui`, alone and in every look: axe finds nothing serious, and what has the focus shows it. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, type Frame, type Page, test } from '@playwright/test'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { build, type InlineConfig, preview, type PreviewServer } from 'vite'
import { LOOKS } from '../src/gallery/looks'
import { complaints } from './complaints'

const root = fileURLToPath(new URL('..', import.meta.url))
test.use({ trace: 'off', viewport: { width: 1700, height: 1000 }, contextOptions: { reducedMotion: 'reduce' } })

let folder = ''
let server: PreviewServer

test.beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gallery-'))
    const shared: InlineConfig = { root, configFile: false, logLevel: 'error', plugins: [svelte()] }
    const input = join(root, 'gallery.html')
    await build({ ...shared, build: { outDir: folder, target: 'es2022', rollupOptions: { input } } })
    server = await preview({ ...shared, build: { outDir: folder }, preview: { host: '127.0.0.1', port: 0 } })
})

test.afterAll(async () => {
    await server.close()
    await rm(folder, { recursive: true })
})

/** The page of one look, and the frames of its samples. */
async function open(page: Page, look: string): Promise<Frame[]> {
    await page.goto(`${server.resolvedUrls?.local[0]}gallery.html?look=${look}`)
    const shown = page.locator('iframe')
    await expect(shown).not.toHaveCount(0)
    const frames: Frame[] = []
    for (const handle of await shown.elementHandles()) {
        const frame = await handle.contentFrame()
        if (!frame) throw new Error('a frame without a page')
        await frame.waitForSelector('html[data-ready]', { state: 'attached' })
        frames.push(frame)
    }
    return frames
}

const nameOf = (frame: Frame) => new URL(frame.url()).searchParams.get('of')

for (const look of LOOKS) {
    test(`axe finds nothing serious in any component: ${look}`, async ({ page }) => {
        const frames = await open(page, look)
        expect.soft(await complaints(page), 'the overview').toEqual([])
        for (const frame of frames) expect.soft(await complaints(frame), `${nameOf(frame)}, ${look}`).toEqual([])
    })
}

test('whatever can have the focus shows that it has it', async ({ page }) => {
    const shown: string[] = []
    for (const frame of await open(page, 'focused')) {
        const focused = frame.locator('[data-focused]')
        if ((await focused.count()) === 0) continue
        shown.push(`${nameOf(frame)}`)
        const looks = await focused.evaluate((element) => {
            const look = () => {
                const { outline, backgroundColor, borderColor, boxShadow } = getComputedStyle(element)
                return [outline, backgroundColor, borderColor, boxShadow].join()
            }
            const marked = look()
            ;(element as HTMLElement).blur()
            element.removeAttribute('data-focused')
            return [marked, look()]
        })
        expect.soft(looks[0], `${nameOf(frame)}`).not.toBe(looks[1])
    }
    expect(shown).toEqual(expect.arrayContaining(['Button', 'Dialog', 'Field', 'IconButton', 'Menu', 'PasswordField']))
})
