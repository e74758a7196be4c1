import { expect, it } from 'vitest'
import { best, fits, fitsLoosely } from './match'

it('a name fits by its beginning, its words, or inside, without accents', () => {
    expect([fits('Ñandú', 'nan'), fits('Ada Byron', 'by'), fits('general', 'era'), fits('general', 'x')]).toEqual([
        1,
        2,
        3,
        null,
    ])
})

it('the best come first, ties by weight', () => {
    const names = ['beta general', 'general', 'generous', 'other']
    expect(best(names, 'gener', (name) => name)).toEqual(['general', 'generous', 'beta general'])
    expect(
        best(
            names,
            'gener',
            (name) => name,
            8,
            (name) => -name.length,
        ),
    ).toEqual(['generous', 'general', 'beta general'])
})

it('loosely, words may come in any order, and letters may be left out', () => {
    const name = 'website launch date'
    expect([fitsLoosely(name, 'web'), fitsLoosely(name, 'date web'), fitsLoosely(name, 'wblnch')]).toEqual([1, 4, 5])
    expect([fitsLoosely(name, 'wt'), fitsLoosely(name, 'date x'), fitsLoosely(name, 'etw')]).toEqual([null, null, null])
    expect(fitsLoosely('a very long name of a place where letters are anywhere', 'vwy')).toBe(null)
})
