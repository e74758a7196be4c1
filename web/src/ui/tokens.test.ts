import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { contrast, type Oklch, parseOklch } from './contrast'

const css = readFileSync(new URL('./tokens.css', import.meta.url), 'utf8')

function token(name: string): { light: Oklch; dark: Oklch } {
    const match = new RegExp(`--${name}: light-dark\\((oklch\\([^)]*\\)), (oklch\\([^)]*\\))\\)`).exec(css)
    const [light, dark] = [parseOklch(match?.[1] ?? ''), parseOklch(match?.[2] ?? '')]
    if (!light || !dark) throw new Error(`no colour --${name}`)
    return { light, dark }
}

const grounds = ['paper', 'paper-raised', 'paper-sunk', 'paper-hover', 'accent-soft']
const texts = ['ink', 'ink-soft', 'accent', 'danger', 'success', 'unread']

describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
    it.each(grounds.flatMap((ground) => texts.map((text) => [text, ground] as const)))(
        '--%s can be read on --%s',
        (text, ground) => {
            expect(contrast(token(text)[theme], token(ground)[theme])).toBeGreaterThanOrEqual(4.5)
        },
    )

    it('text on the accent can be read', () => {
        expect(contrast(token('accent-ink')[theme], token('accent')[theme])).toBeGreaterThanOrEqual(4.5)
        expect(contrast(token('accent-ink')[theme], token('danger')[theme])).toBeGreaterThanOrEqual(4.5)
    })

    it.each(['paper', 'paper-raised', 'paper-sunk'])('marks stand out from --%s', (ground) => {
        expect(contrast(token('mark')[theme], token(ground)[theme])).toBeGreaterThanOrEqual(3)
    })
})

it('black on white is 21:1', () => {
    expect(contrast({ l: 0, c: 0, h: 0 }, { l: 1, c: 0, h: 0 })).toBeCloseTo(21, 0)
})
