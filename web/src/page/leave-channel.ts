/** Leaving a channel. Whoever leaves a private one cannot come back by themselves, and is asked first. */
import type { Answer } from '../data/api'
import type { Channel } from '../data/realm.svelte'
import type { World } from '../data/world.svelte'
import { ask } from '../ui/asking.svelte'
import { t } from '../words/words.svelte'

/** Null: they stay. */
export async function leaveChannel(world: World, channel: Channel): Promise<Answer<object> | null> {
    const mayComeBack = !channel.invite_only || world.realm.may(channel.can_subscribe_group)
    const isSure =
        mayComeBack ||
        (await ask({
            title: t('leave.title', { channel: channel.name }),
            text: t('leave.text'),
            confirm: t('places.leave'),
            danger: true,
        }))
    return isSure ? world.api.delete('users/me/subscriptions', { subscriptions: [channel.name] }) : null
}
