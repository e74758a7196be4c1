/** Deleting a topic for everybody, which only administrators may. A large one goes in portions: it is asked for again until
 *  all of it is gone. */
import type { Answer } from '../data/api'
import type { Id } from '../data/api-types'
import type { World } from '../data/world.svelte'
import { ask } from '../ui/asking.svelte'
import { t } from '../words/words.svelte'

export function mayDeleteTopic({ realm, me }: World, channelId: Id): boolean {
    return realm.users.get(me)?.is_admin === true && realm.channels.get(channelId)?.is_archived === false
}

/** Null: it stays. */
export async function deleteTopic(world: World, channelId: Id, topic: string): Promise<Answer<object> | null> {
    const isSure = await ask({
        title: t('topic.delete.title', { topic: world.realm.topicName(topic) }),
        text: t('topic.delete.text'),
        confirm: t('topic.delete'),
        danger: true,
    })
    if (!isSure) return null
    for (;;) {
        const answer = await world.api.post<{ complete: boolean }>(`streams/${channelId}/delete_topic`, {
            topic_name: topic,
        })
        if (!answer.ok || answer.value.complete) return answer
    }
}
