/** Where we are: the place in the address bar, as state. `go(place)` moves there and leaves a step to come back to;
 *  links with `href={hashOf(place)}` do the same. Back and forward are the browser's own. */
import type { Id } from '../data/api-types'
import { hashOf, placeOf, type Place } from '../data/place'

let hash = $state(typeof location === 'undefined' ? '' : location.hash)
if (typeof addEventListener !== 'undefined') addEventListener('hashchange', () => (hash = location.hash))

/** The place shown, or null for the home place. */
export function here(me: Id): Place | null {
    return placeOf(hash, me)
}

/** For who is not signed in: the front door's page in the address bar, such as `join/KEY`. */
export const frontPage = (): string => hash.replace(/^#/, '')

export function go(place: Place, channelName?: (id: Id) => string | undefined): void {
    location.hash = hashOf(place, channelName)
}

/** The same place under another address, without a step to come back to. */
export function goInstead(place: Place, channelName?: (id: Id) => string | undefined): void {
    history.replaceState(null, '', hashOf(place, channelName))
    hash = location.hash
}
