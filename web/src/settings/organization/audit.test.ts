import '../../words/settings'
import { describe, expect, it } from 'vitest'
import { changesOf, paramsOf, toWhom, whoDid, type Entry } from './audit'

const entry = (more: Partial<Entry>): Entry => ({
    id: 1,
    timestamp: 0,
    act: 'user.role_changed',
    actor_id: 7,
    actor_name: 'Ada',
    key_id: null,
    session_id: 3,
    address: '10.0.0.1',
    user_agent: 'Firefox',
    target: { type: 'user', id: 8, name: 'Bob' },
    changes: {},
    is_erased: false,
    ...more,
})

describe('an entry in words', () => {
    it('names who did it, and to whom', () => {
        expect([whoDid(entry({})), toWhom(entry({}))]).toEqual(['Ada', 'Bob'])
        expect(toWhom(entry({ target: { type: 'user', id: 7, name: 'Ada' } }))).toBe('')
        expect(toWhom(entry({ target: { type: 'emoji', id: 4, name: null } }))).toBe('emoji #4')
    })

    it('tells the server from somebody who is not logged in', () => {
        expect(whoDid(entry({ actor_id: null, actor_name: null }))).toBe('Someone not signed in')
        expect(whoDid(entry({ actor_id: null, actor_name: null, address: null }))).toBe('The server')
    })

    it('says what was before and after, with roles by name', () => {
        const changes: Entry['changes'] = {
            role: [400, 300],
            full_name: ['Bob', 'Rob'],
            members: [null, [1, 2]],
            subgroups: [null, []],
            invite_only: [false, true],
            payload_url: [null, null],
            description: ['x', ''],
            message_content_edit_limit_seconds: [600, 300],
        }
        expect(changesOf(entry({ changes }), (id) => `person ${id}`)).toEqual([
            'role: Member → Moderator',
            'full name: Bob → Rob',
            'members: person 1, person 2',
            'subgroups: nothing',
            'private: no → yes',
            'address of the program changed',
            'description: x → nothing',
            'message content edit limit seconds: 600 → 300',
        ])
    })
})

describe('what is asked for', () => {
    it('is nothing without filters', () => {
        expect(paramsOf({ act: '', by: undefined, about: undefined, since: '', until: '' })).toEqual({})
    })

    it('has both days whole', () => {
        const params = paramsOf({ act: 'user', by: 7, about: 8, since: '2026-03-01', until: '2026-03-01' })
        expect(Number(params['until']) - Number(params['since'])).toBe(86_400)
        expect(params).toMatchObject({ act: 'user', actor_id: 7, target_type: 'user', target_id: 8 })
    })
})
