import { expect, test } from 'vitest'
import type { Answer, ApiError } from '../data/api'
import { explain, problemsIn } from './explain'

const refused = (msg: string) =>
    ({ ok: false, error: { kind: 'refused', status: 400, code: 'BAD_REQUEST', msg, body: {} } }) as const

test('a known refusal is said in our words beside the field it is about', () => {
    const answer = refused('The password is too weak: it would soon be guessed.')
    expect(problemsIn(answer, 'old_password', 'new_password')).toEqual({
        new_password: 'That password is too easy to guess. Choose a longer one.',
    })
    expect(explain(refused('Pronouns is too long (limit: 50 characters)').error)).toBe('At most 50 characters.')
})

test('an unknown refusal, or one about another field, is beside the first field', () => {
    expect(problemsIn(refused('The moon is wrong.'), 'name', 'pattern')).toEqual({ name: 'The moon is wrong.' })
    expect(problemsIn(refused('Invalid URL template.'), 'name')).toEqual({
        name: 'That’s not a valid address template.',
    })
})

test('a refused playground or domain is said beside its field', () => {
    const fields = ['name', 'pygments_language', 'url_template'] as const
    expect(problemsIn(refused('Invalid characters in pygments language'), ...fields)).toEqual({
        pygments_language: 'That’s not the name of a language.',
    })
    const answer = refused('The URL template has one variable, "code", for the code that is tried.')
    expect(Object.keys(problemsIn(answer, ...fields))).toEqual(['url_template'])
    expect(explain(refused('The domain a.example is already a part of this organization.').error)).toMatch(/list/)
})

test('names and values that others were faster with are told of', () => {
    const answer = refused('Name is already in use.')
    expect(problemsIn(answer, 'short_name', 'full_name')).toEqual({ full_name: 'Someone already has this name.' })
    const { error } = refused("'old' value does not match the expected value.")
    expect(explain(error)).toMatch(/^Someone else changed this/)
})

test('nothing is said of what was taken', () => {
    expect(problemsIn({ ok: true, value: {} } as Answer<object>, 'name')).toEqual({})
})

test('what is no refusal says what happened and what to do', () => {
    const error = { kind: 'offline', status: 0, code: '', msg: '', body: {} } as const
    const text = (more: Partial<ApiError>) => explain({ ...error, ...more })
    expect(text({})).toMatch(/didn’t respond/)
    expect(text({ kind: 'busy', status: 429, msg: 'API usage exceeded', retryAfter: 3.2 })).toMatch(/Wait 4 seconds/)
    expect(text({ kind: 'busy', status: 503, retryAfter: 5 })).toMatch(/busy. Try again in 5 seconds/)
    expect(text({ kind: 'broken', status: 500 })).toMatch(/internal error/)
    expect(text({ kind: 'signedOut', status: 401, code: 'AUTHENTICATION_FAILED', msg: 'No.' })).toMatch(/password/)
})
