import { expect, test } from 'vitest'
import type { Answer } from '../data/api'
import { problemsIn, reasonOf } from './refusals'

const refused = (msg: string) =>
    ({ ok: false, error: { kind: 'refused', status: 400, code: 'BAD_REQUEST', msg, body: {} } }) as const

test('a known refusal is said in our words beside the field it is about', () => {
    const answer = refused('The password is too weak: it would soon be guessed.')
    expect(problemsIn(answer, 'old_password', 'new_password')).toEqual({
        new_password: 'That password would soon be guessed. Choose a longer one.',
    })
    expect(reasonOf(refused('Pronouns is too long (limit: 50 characters)').error)).toBe('At most 50 characters.')
})

test('an unknown refusal, or one about another field, is beside the first field', () => {
    expect(problemsIn(refused('The moon is wrong.'), 'name', 'pattern')).toEqual({ name: 'The moon is wrong.' })
    expect(problemsIn(refused('Invalid URL template.'), 'name')).toEqual({ name: 'That is no address template.' })
})

test('names and values that others were faster with are told of', () => {
    const answer = refused('Name is already in use.')
    expect(problemsIn(answer, 'short_name', 'full_name')).toEqual({ full_name: 'Somebody has this name already.' })
    const { error } = refused("'old' value does not match the expected value.")
    expect(reasonOf(error)).toMatch(/^Somebody else changed this meanwhile/)
})

test('nothing is said of what was taken', () => {
    expect(problemsIn({ ok: true, value: {} } as Answer<object>, 'name')).toEqual({})
})
