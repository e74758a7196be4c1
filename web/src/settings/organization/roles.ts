/** The roles of people, the mightiest first, and what it means to get one. */
import type { Word } from '../../words/words.svelte'

export const ROLES = [
    { role: 100, word: 'role.owner', means: 'role.means.owner' },
    { role: 200, word: 'role.administrator', means: 'role.means.administrator' },
    { role: 300, word: 'role.moderator', means: 'role.means.moderator' },
    { role: 400, word: 'role.member', means: 'role.means.member' },
    { role: 600, word: 'role.guest', means: 'role.means.guest' },
] as const satisfies { role: number; word: Word; means: Word }[]

export type RoleNumber = (typeof ROLES)[number]['role']
