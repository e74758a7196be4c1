/** What my own settings change in a talk (pure). */
import type { ApiUserSettings, Id } from '../data/api-types'
import type { TalkPlace } from '../data/place'
import { listText } from '../page/people'

/** With more reactions than these, names would be in the way of the message. */
const MOST_NAMES = 3

type Chosen<Name extends keyof ApiUserSettings> = Pick<ApiUserSettings, Name>

/** Whether what is scrolled past is read: everywhere, in single conversations, or never; where one only looks something up, never. */
export function marksRead(settings: Chosen<'web_mark_read_on_scroll_policy'>, place: TalkPlace): boolean {
    if (place.kind === 'search' || place.kind === 'starred') return false
    const policy = settings.web_mark_read_on_scroll_policy
    return policy === 1 || (policy === 2 && (place.kind === 'topic' || place.kind === 'direct'))
}

/** Whether these keys send what is written. */
export function sendsBy(settings: Chosen<'enter_sends'>, chord: string): boolean {
    return chord === 'mod+enter' || (chord === 'enter' && settings.enter_sends)
}

/** What stands beside the emoji of a reaction: who, where few reacted and that is wanted; else how many. */
export function reactorsText(
    settings: Chosen<'display_emoji_reaction_users'>,
    users: readonly Id[],
    reactions: number,
    nameOf: (id: Id) => string,
): string {
    const named = settings.display_emoji_reaction_users && reactions <= MOST_NAMES
    return named ? listText(users.map(nameOf)) : String(users.length)
}
