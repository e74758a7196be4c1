/** People in the order in which they are listed (pure): me, who is active, who is idle, the others, then bots; by name in each.
 *  Those I have muted are not among them. */
import type { ApiUser, Id } from '../data/api-types'
import type { Here } from '../data/presence.svelte'
import { isOffered } from '../page/people'

const RANK: Record<Here, number> = { active: 1, idle: 2, offline: 3 }

export function peopleInOrder(
    users: Iterable<ApiUser>,
    presenceOf: (id: Id) => Here,
    me: Id,
    language: string,
    muted: ReadonlySet<Id> = new Set(),
): ApiUser[] {
    const byName = new Intl.Collator(language, { numeric: true, sensitivity: 'base' }).compare
    const rank = (user: ApiUser) => (user.user_id === me ? 0 : user.is_bot ? 4 : RANK[presenceOf(user.user_id)])
    return [...users]
        .filter((user) => isOffered(user) && !muted.has(user.user_id))
        .map((user) => ({ user, rank: rank(user) }))
        .sort((a, b) => a.rank - b.rank || byName(a.user.full_name, b.user.full_name))
        .map((each) => each.user)
}
