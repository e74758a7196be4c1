/** Going to a message of which only the number is known: it may have been moved since. */
import type { ApiMessage, Id } from '../data/api-types'
import { conversationOf } from '../data/message.svelte'
import type { World } from '../data/world.svelte'
import { sayError } from '../ui/toasts.svelte'
import { explain } from './explain'
import { go } from './route.svelte'

export async function openMessage(world: World, id: Id): Promise<void> {
    const answer = await world.api.get<{ message: ApiMessage }>(`messages/${id}`)
    if (answer.ok) go({ ...conversationOf(answer.value.message, world.me), near: id }, world.realm.channelName)
    else sayError(explain(answer.error))
}
