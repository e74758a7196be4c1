/** The roles of people, the mightiest first. */
import type { Word } from '../../words/words.svelte'

export const ROLES = [
    { role: 100, word: 'role.owner' },
    { role: 200, word: 'role.administrator' },
    { role: 300, word: 'role.moderator' },
    { role: 400, word: 'role.member' },
    { role: 600, word: 'role.guest' },
] as const satisfies { role: number; word: Word }[]
