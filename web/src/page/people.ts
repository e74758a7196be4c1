/** Who is offered where somebody is looked for, and people as one text. */
import type { ApiUser } from '../data/api-types'
import type { World } from '../data/world.svelte'
import { listFormat } from '../ui/formats'
import { language, t } from '../words/words.svelte'

/** Neither who has left, nor the bots of the system, which nobody writes to. */
export const isOffered = (user: ApiUser): boolean => user.is_active !== false && !user.is_system_bot

/** Whether they have a picture that somebody chose, and not one made of their name. */
export const hasPicture = (user: ApiUser | undefined): boolean =>
    user?.avatar_url?.startsWith('/user_avatars/') ?? false

/** People of a conversation: `Ada, Bo and Cleo`; without me, unless I am alone with myself. */
export function peopleText(world: Pick<World, 'me' | 'realm'>, ids: readonly number[]): string {
    const others = ids.filter((id) => id !== world.me)
    if (others.length === 0) return t('people.self')
    return listText(others.map((id) => world.realm.userName(id) || t('people.unknown')))
}

export function listText(names: readonly string[]): string {
    return listFormat(language(), { type: 'conjunction' }).format(names)
}
