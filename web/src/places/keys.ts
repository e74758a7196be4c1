/** Short cuts that work everywhere, and the things to do that the palette offers besides places. */
import type { World } from '../data/world.svelte'
import { keyOf } from '../data/place'
import { explain } from '../page/explain'
import { go, here } from '../page/route.svelte'
import { beginToWrite } from '../page/shared.svelte'
import type { Key } from '../ui/keys.svelte'
import { sayError, takeUp } from '../ui/toasts.svelte'
import { inboxFor, linesOf } from './inbox'
import type { Action } from './offers'

export function globalKeys(world: World, open: { find: () => void; sheet: () => void }): Key[] {
    return [
        { keys: ['mod+k', '/'], word: 'keys.palette', run: open.find },
        { keys: 'c', word: 'keys.compose', run: write },
        { keys: '?', word: 'keys.sheet', run: open.sheet },
        { keys: 'shift+i', word: 'keys.inbox', run: () => go({ kind: 'inbox' }) },
        { keys: 'shift+r', word: 'keys.recent', run: () => go({ kind: 'recent' }) },
        { keys: 'shift+a', word: 'keys.feed', run: () => go({ kind: 'feed' }) },
        { keys: 'n', word: 'keys.nextunread', run: () => nextUnread(world) },
        { keys: 'z', word: 'keys.takeup', run: takeUp },
    ]
}

/** Where a place has no compose box, the one that asks to whom. */
export function write() {
    beginToWrite()
    go({ kind: 'feed' })
}

/** The conversation after this one in the inbox, round and round; false if everything is read. */
export function nextUnread(world: World): boolean {
    const all = linesOf(inboxFor(world))
    const place = here(world.me)
    const at = place ? all.findIndex((talk) => talk.key === keyOf(place)) : -1
    const next = all[(at + 1) % all.length]
    if (!next) return false
    go(next.place, world.realm.channelName)
    return true
}

export const THEMES = [
    { word: 'places.theme.light', scheme: 3 },
    { word: 'places.theme.dark', scheme: 2 },
    { word: 'places.theme.system', scheme: 1 },
] as const

/** How the page looks is a setting of the person's, the same on all devices. */
export async function chooseTheme(world: World, color_scheme: number): Promise<void> {
    const answer = await world.api.patch('settings', { color_scheme })
    if (!answer.ok) sayError(explain(answer.error))
}

export function themeActions(world: World): Action[] {
    return THEMES.map(({ word, scheme }) => ({ word, run: () => void chooseTheme(world, scheme) }))
}
