import { describe, expect, it } from 'vitest'
import { playgroundAddress, playgroundsFor } from './playgrounds'

describe('a playground', () => {
    it.each([
        ['https://play.example/?code={code}', 'https://play.example/?code=a%20%26%20b%2Fc'],
        ['https://play.example/{?code}', 'https://play.example/?code=a%20%26%20b%2Fc'],
        ['https://play.example/?v=1{&code}', 'https://play.example/?v=1&code=a%20%26%20b%2Fc'],
        ['https://play.example/{#code}', 'https://play.example/#a%20&%20b/c'],
        ['https://play.example/{code:3}', 'https://play.example/a%20%26'],
        ['https://play.example/{?code*}', 'https://play.example/?code=a%20%26%20b%2Fc'],
        ['https://play.example/{+code}{other}', 'https://play.example/a%20&%20b/c'],
    ])('%s has the code in its address', (template, address) => {
        expect(playgroundAddress(template, 'a & b/c')).toBe(address)
    })

    it('is a web page, and nothing else', () => {
        expect(playgroundAddress('javascript:{code}', 'alert(1)')).toBeNull()
        expect(playgroundAddress('{code}', 'https://elsewhere.example')).toBeNull()
    })

    it('is one of the language, however that is spelled', () => {
        const rust = { id: 1, name: 'Rust', pygments_language: 'Rust', url_template: 'https://play.example/{code}' }
        expect(playgroundsFor([rust], 'rust')).toEqual([rust])
        expect(playgroundsFor([rust], 'ruby')).toEqual([])
    })
})
