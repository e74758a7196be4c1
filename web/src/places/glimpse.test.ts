// @vitest-environment happy-dom
import { describe, expect, it } from 'vitest'
import type { Realm } from '../data/realm.svelte'
import { glimpseText } from './glimpse'

const realm = { mutedUsers: new Map([[9, 0]]) } as unknown as Realm
const said = (html: string, senderId = 1) => glimpseText(realm, { senderId, html, timestamp: 0 })

describe('what a line of a list says of a message', () => {
    it.each([
        ['<p>Plain <strong>words</strong></p>', 'Plain words'],
        ['<p>/me waves</p>', 'waves'],
        ['<p>/poll Where to?<br>\nThe park<br>\nRamen</p>', 'Poll · Where to?'],
        ['<p>/todo<br>\nRelease notes</p>', 'To-do list'],
        ['<p>/meeting at nine</p>', '/meeting at nine'],
    ])('shows commands as the talk does: %s', (html, text) => {
        expect(said(html)).toBe(text)
    })

    it('says nothing of somebody who is muted', () => {
        expect(said('<p>Hello</p>', 9)).toBe('')
    })
})
