// @vitest-environment happy-dom
import { expect, it, vi } from 'vitest'
import { FAR, takeSwipes, wayOf } from './swipes'

it('what goes up or down is scrolling, from the first pixels on', () => {
    expect(wayOf(3, 4)).toBe('undecided')
    expect(wayOf(2, 12)).toBe('along')
    expect(wayOf(-30, 4)).toBe('sideways')
})

it('what goes aslant is scrolling too', () => {
    expect(wayOf(20, 20)).toBe('along')
    expect(wayOf(20, -11)).toBe('along')
    expect(wayOf(20, 9)).toBe('sideways')
})

/** A finger that goes from the middle of the first message towards the beginning of the line; how often the phone buzzed. */
function swipeToReply(reply: ((id: number) => void) | null): number {
    document.body.innerHTML = '<main><article data-message="7">Hello</article></main>'
    const [talk, message] = [document.querySelector('main'), document.querySelector('article')]
    if (!talk || !message) throw new Error('nothing to swipe on')
    vi.stubGlobal('matchMedia', (query: string) => ({ matches: query.startsWith('(max-width') }))
    const vibrate = vi.fn()
    vi.stubGlobal('navigator', { vibrate })
    const rest = takeSwipes(talk, { back: () => {}, reply })
    const touch = (name: string, clientX: number) => {
        const event = new Event(name, { bubbles: true })
        message.dispatchEvent(Object.assign(event, { touches: [{ identifier: 1, clientX, clientY: 300 }] }))
    }
    touch('touchstart', 200)
    touch('touchmove', 200 - 20)
    touch('touchmove', 200 - FAR - 1)
    touch('touchend', 200 - FAR - 1)
    rest()
    vi.unstubAllGlobals()
    return vibrate.mock.calls.length
}

it('a swipe buzzes and replies for those who can, and does neither for those who only read', () => {
    const reply = vi.fn()
    expect(swipeToReply(reply)).toBe(1)
    expect(reply).toHaveBeenCalledWith(7)
    expect(swipeToReply(null)).toBe(0)
})
