import { expect, it } from 'vitest'
import { placeBeside } from './float'

const room = { width: 400, height: 300 }
const size = { width: 100, height: 80 }

it('opens below its anchor where there is room', () => {
    expect(placeBeside({ left: 20, top: 20, width: 30, height: 30 }, size, room, 'below')).toEqual({
        left: 20,
        top: 56,
    })
})

it('goes above where there is none', () => {
    expect(placeBeside({ left: 20, top: 250, width: 30, height: 30 }, size, room, 'below')).toEqual({
        left: 20,
        top: 164,
    })
})

it('stays inside the window', () => {
    expect(placeBeside({ left: 390, top: 20, width: 30, height: 30 }, size, room, 'below').left).toBe(292)
})

it('stays inside even if neither side has room', () => {
    const { top } = placeBeside(
        { left: 0, top: 100, width: 10, height: 100 },
        { width: 50, height: 250 },
        room,
        'below',
    )
    expect(top).toBeGreaterThanOrEqual(8)
})
