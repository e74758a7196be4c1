// @vitest-environment happy-dom
import { expect, it } from 'vitest'
import { type LookSettings, lookOf, showLook } from './look'

const plain: LookSettings = { web_font_size_px: 16, web_line_height_percent: 140, fluid_layout_width: false }

it('who changes nothing sees what was designed', () => {
    expect(Object.values(lookOf(plain)).join('')).toBe('')
})

it('letters are as large as my settings say', () => {
    expect(lookOf({ ...plain, web_font_size_px: 20 })['font-size']).toBe('125%')
})

it('lines are as dense as my settings say', () => {
    const compact = lookOf({ ...plain, web_line_height_percent: 122 })
    expect(Number(compact['--leading-talk'])).toBeCloseTo(1.307, 2)
    expect(compact['--air']).toBe('0.2px')
    expect(lookOf({ ...plain, web_line_height_percent: 80 })['--air']).toBe('0px')
})

it('the talk is as wide as my settings say, and as it was when they say so again', () => {
    const root = document.createElement('div')
    showLook({ ...plain, fluid_layout_width: true }, root)
    expect(root.style.getPropertyValue('--width-text')).toBe('9999px')
    showLook(plain, root)
    expect(root.style.getPropertyValue('--width-text')).toBe('')
})
