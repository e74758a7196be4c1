import { expect, it } from 'vitest'
import { formOf, voiceName } from './voice'

it('is recorded in the first form that the browser writes', () => {
    expect(formOf(() => true)?.ending).toBe('m4a')
    expect(formOf((type) => !type.includes('mp4'))?.ending).toBe('weba')
    expect(formOf((type) => type.startsWith('audio/ogg'))?.ending).toBe('ogg')
    expect(formOf(() => false)).toBeNull()
})

it('is named by the time', () => {
    expect(voiceName(new Date(2026, 2, 9, 8, 5, 3), 'ogg')).toBe('voice-2026-03-09-08-05-03.ogg')
})
