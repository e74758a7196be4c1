/** Scrolling through 20,000 real messages, in a channel of 100,000: `npm run figures -- scroll`; MESSAGES for another number.
 *  Frames are traced (trace.ts); TRACE=file keeps the trace. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from '@playwright/test'
import type { Dev } from '../server'
import { expect, note, personOf, quantile, said, test, toNewest, useOf, type Person } from './figure'
import { TEXTS } from './rich'
import { framesOf, traced, type Frames } from './trace'

const MESSAGES = Number(process.env['MESSAGES'] ?? 20_000)
const IN_CHANNEL = 100_000
/** Pixels in each frame: 200 (12,000 a second) is the fastest that a wheel or a finger makes, 60 is reading past. */
const STEP = Number(process.env['STEP'] ?? 200)
const RICH = 300
/** Milliseconds, at 60 a second. */
const FRAME = 16.7

test.setTimeout(900_000)
test.use({ trace: 'off', screenshot: 'off' })

interface Scrolled {
    messages: number
    jumps: number
    /** Frames in which nothing moved, because older messages were not there yet. */
    waits: number
    rows: number
}

test('scrolling through 20,000 messages', async ({ browser, dev }) => {
    const channel = filled(dev, IN_CHANNEL)
    const ines = await personOf(dev, 'ines', browser)
    await ines.go(`#narrow/channel/${channel}`)
    await expect(ines.page.locator('article[data-message]').last()).toBeVisible()
    const devtools = await ines.context.newCDPSession(ines.page)
    const before = await useOf(devtools)
    const warm = await scrollUp(ines.page, Math.min(5000, MESSAGES / 4))
    const middle = await useOf(devtools)
    let scrolled: Scrolled = warm
    const events = await traced(devtools, async () => {
        scrolled = await scrollUp(ines.page, MESSAGES - warm.messages)
    })
    const frames = framesOf(events)
    tell(`${(warm.messages + scrolled.messages).toLocaleString('en')} plain messages`, scrolled, frames)
    note(
        `in use before; after ${warm.messages.toLocaleString('en')} messages; after all`,
        [before, middle, await useOf(devtools)].map(said).join('; '),
    )
    await jumps(ines)
    await ines.context.close()
})

test('scrolling through code, formulas, tables, pictures', async ({ browser, dev }) => {
    const ines = await personOf(dev, 'ines', browser)
    const channel = dev.channels[0]?.stream_id ?? 0
    let [sent, last] = [0, 0]
    const send = async () => {
        while (sent < RICH) {
            const text = TEXTS[sent % TEXTS.length] ?? ''
            sent += 1
            last = Math.max(last, await ines.send(channel, 'rich', text))
        }
    }
    await Promise.all(Array.from({ length: 6 }, send))
    await ines.go(`#narrow/channel/${channel}/topic/rich`)
    await expect(ines.page.locator('article[data-message]').last()).toBeVisible()
    await toNewest(ines.page, last)
    const devtools = await ines.context.newCDPSession(ines.page)
    let scrolled: Scrolled = { messages: 0, jumps: 0, waits: 0, rows: 0 }
    const events = await traced(devtools, async () => {
        scrolled = await scrollUp(ines.page, RICH)
    })
    tell(`${scrolled.messages} rich messages`, scrolled, framesOf(events))
    await ines.context.close()
})

/** A new channel with so many messages that everybody has read; its number. */
function filled(dev: Dev, messages: number): number {
    const root = fileURLToPath(new URL('../../..', import.meta.url))
    const args = ['-m', 'tertulia', 'dev', 'fill', '--json', '--channels', '1', '--messages', String(messages)]
    const out = execFileSync(join(root, '.venv/bin/python'), [...args, '--data', join(dev.folder, 'data')], {
        env: { ...process.env, PYTHONPATH: join(root, 'src') },
        stdio: ['ignore', 'pipe', 'ignore'],
    })
    const { channels } = JSON.parse(out.toString()) as { channels: { stream_id: number }[] }
    return channels[0]?.stream_id ?? 0
}

/** Upwards, the same way in each frame, until so many messages went by. */
function scrollUp(page: Page, messages: number): Promise<Scrolled> {
    return page.evaluate(
        async ({ messages, step }) => {
            const scroller = document.querySelector('[role=log]') as HTMLElement
            // As it is drawn: after the list has put in its place what got another height since the last frame. Those who
            // observe sizes are told in the order in which they began, so this one is the last.
            const probe = document.body.appendChild(document.createElement('div'))
            probe.style.cssText = 'position: fixed; block-size: 1px; inline-size: 0'
            let told = () => {}
            new ResizeObserver(() => told()).observe(probe)
            const frame = () =>
                new Promise<void>((resolve) => {
                    told = resolve
                    requestAnimationFrame(() => (probe.style.inlineSize = `${(frames % 2) + 1}px`))
                })
            const seen = new Set<string | undefined>()
            let [frames, jumps, waits, still] = [0, 0, 0, 0]
            while (seen.size < messages && still < 600) {
                for (const row of scroller.querySelectorAll<HTMLElement>('[data-message]'))
                    seen.add(row.dataset['message'])
                // The line at the middle: where should it be when the list has moved by this much?
                const line = frames % 4 ? null : document.elementFromPoint(700, 400)?.closest('[data-message]')
                const top = line?.getBoundingClientRect().top ?? 0
                const from = scroller.scrollTop
                scroller.scrollTop = from - step
                const moved = from - scroller.scrollTop
                still = moved === 0 ? still + 1 : 0
                if (moved === 0) waits += 1
                frames += 1
                await frame()
                if (line?.isConnected && Math.abs(line.getBoundingClientRect().top - top - moved) > 3) jumps += 1
            }
            probe.remove()
            return { messages: seen.size, jumps, waits, rows: scroller.querySelectorAll('[data-message]').length }
        },
        { messages, step: STEP },
    )
}

function tell(what: string, scrolled: Scrolled, { all, longTasks }: Frames): void {
    const at = (values: number[]) => [0.5, 0.95, 0.99].map((part) => quantile(values, part).toFixed(1)).join(' / ')
    const mean = (values: number[]) => (values.reduce((sum, each) => sum + each, 0) / values.length).toFixed(2)
    const kinds = ['script', 'style', 'layout', 'paint', 'garbage', 'rest'] as const
    note(
        `${what}: work of the main thread in each of ${all.length} frames, ms p50 / p95 / p99`,
        at(all.map((each) => each.work)),
    )
    note(`${what}: of it, mean ms`, kinds.map((kind) => `${kind} ${mean(all.map((each) => each.of[kind]))}`).join(', '))
    note(`${what}: from frame to frame, ms p50 / p95 / p99`, at(all.map((each) => each.interval)))
    // Of the thread's own clock: whether it could keep 60 frames a second, whatever else the machine does.
    const over = all.filter((each) => each.work > FRAME).length
    note(
        `${what}: frames with more than ${FRAME} ms of work, % (budget 5)`,
        ((100 * over) / Math.max(1, all.length)).toFixed(1),
    )
    const late = all.filter((each) => each.interval > 25).length
    note(
        `${what}: late frames; tasks over 50 ms, by the thread's own clock`,
        `${late}; ${longTasks.wall}, ${longTasks.own}`,
    )
    note(
        `${what}: jumps of the line being read; frames that waited; rows in the page`,
        `${scrolled.jumps}; ${scrolled.waits}; ${scrolled.rows}`,
    )
}

/** From end to end of the whole channel by keyboard. */
async function jumps({ page }: Person): Promise<void> {
    const list = page.getByRole('log')
    const timed = async (key: string, there: () => Promise<void>) => {
        const began = Date.now()
        await page.keyboard.press(key)
        await there()
        return Date.now() - began
    }
    await list.focus()
    const home = await timed('Home', () => expect(list.getByText('This is the beginning')).toBeVisible())
    const end = await timed('End', () => expect(page.getByRole('button', { name: 'Newest messages' })).toBeHidden())
    note(`Home and End in ${IN_CHANNEL.toLocaleString('en')} messages, ms until it is there`, `${home}, ${end}`)
}
