/** People of a conversation as one text: `Ada, Bo and Cleo`; without me, unless I am alone with myself. */
import type { World } from '../data/world.svelte'
import { listFormat } from '../ui/formats'
import { language, t } from '../words/words.svelte'

export function peopleText(world: Pick<World, 'me' | 'realm'>, ids: readonly number[]): string {
    const others = ids.filter((id) => id !== world.me)
    if (others.length === 0) return t('people.self')
    return listText(others.map((id) => world.realm.userName(id) || t('people.unknown')))
}

export function listText(names: readonly string[]): string {
    return listFormat(language(), { type: 'conjunction' }).format(names)
}
