import { expect, test } from 'vitest'
import { bytesOf, textOf } from './passkeys'

test('bytes travel as base64url without padding, and come back', () => {
    for (const bytes of [[], [0], [251, 255, 191], [1, 2, 3, 4]]) {
        const text = textOf(new Uint8Array(bytes).buffer)
        expect(text).toMatch(/^[\w-]*$/)
        expect([...bytesOf(text)]).toEqual(bytes)
    }
    expect(textOf(new Uint8Array([251, 255, 191]).buffer)).toBe('-_-_')
})
