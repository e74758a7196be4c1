import { expect, it } from 'vitest'
import { best, fits } from './match'

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
