/** What can be done to a channel or a topic from wherever it is listed. */
import BellOff from '@lucide/svelte/icons/bell-off'
import BellRing from '@lucide/svelte/icons/bell-ring'
import Bell from '@lucide/svelte/icons/bell'
import CheckCheck from '@lucide/svelte/icons/check-check'
import CircleCheck from '@lucide/svelte/icons/circle-check'
import Globe from '@lucide/svelte/icons/globe'
import Link from '@lucide/svelte/icons/link'
import LogOut from '@lucide/svelte/icons/log-out'
import Pin from '@lucide/svelte/icons/pin'
import Settings from '@lucide/svelte/icons/settings-2'
import Trash from '@lucide/svelte/icons/trash-2'
import { isResolved } from '../data/acts'
import type { Answer } from '../data/api'
import { hashOf, type TalkPlace } from '../data/place'
import { POLICY, type Channel } from '../data/realm.svelte'
import type { World } from '../data/world.svelte'
import { explain } from '../page/explain'
import { deleteTopic, mayDeleteTopic } from '../page/delete-topic'
import { leaveChannel } from '../page/leave-channel'
import { markRead } from '../page/mark-read'
import { go } from '../page/route.svelte'
import type { MenuItem } from '../ui/Menu.svelte'
import { say, sayError } from '../ui/toasts.svelte'
import { t } from '../words/words.svelte'

export function channelMenu(world: World, channel: Channel): (MenuItem | 'line')[] {
    const id = channel.stream_id
    const set = (property: string, value: boolean) =>
        tell(
            world.api.post('users/me/subscriptions/properties', {
                subscription_data: [{ stream_id: id, property, value }],
            }),
        )
    return [
        readItem(world, { kind: 'channel', channelId: id }),
        {
            text: channel.pin_to_top ? t('places.unpin') : t('places.pin'),
            icon: Pin,
            run: () => set('pin_to_top', !channel.pin_to_top),
        },
        {
            text: channel.is_muted ? t('places.unmute') : t('places.mute'),
            icon: channel.is_muted ? Bell : BellOff,
            run: () => set('is_muted', !channel.is_muted),
        },
        linkItem(world, { kind: 'channel', channelId: id }),
        ...(hasPublicPage(world, channel) ? [publicItem(id)] : []),
        'line',
        {
            text: t('places.channel.settings'),
            icon: Settings,
            run: () => go({ kind: 'channels', rest: [String(id)] }),
        },
        {
            text: t('places.leave'),
            icon: LogOut,
            danger: true,
            run: () => tell(leaveChannel(world, channel)),
        },
    ]
}

export function topicMenu(world: World, channelId: number, topic: string, newest?: number): (MenuItem | 'line')[] {
    const policy = world.realm.policyOf(channelId, topic)
    const decide = (text: string, value: number, icon: MenuItem['icon']): MenuItem => ({
        text,
        ...(icon ? { icon } : {}),
        checked: policy === value,
        run: () => tell(world.acts.setTopicPolicy(channelId, topic, value)),
    })
    const items: (MenuItem | 'line')[] = [
        readItem(world, { kind: 'topic', channelId, topic }),
        linkItem(world, { kind: 'topic', channelId, topic }),
        'line',
        decide(t('places.topic.follow'), POLICY.followed, BellRing),
        decide(t('places.topic.inherit'), POLICY.inherit, Bell),
        decide(t('places.topic.unmute'), POLICY.unmuted, Bell),
        decide(t('places.topic.mute'), POLICY.muted, BellOff),
    ]
    if (newest !== undefined) {
        items.push('line', {
            text: isResolved(topic) ? t('places.topic.unresolve') : t('places.topic.resolve'),
            icon: CircleCheck,
            run: () => tell(world.acts.toggleResolved(newest, topic)),
        })
    }
    if (mayDeleteTopic(world, channelId)) {
        items.push('line', {
            text: t('topic.delete'),
            icon: Trash,
            danger: true,
            run: () => tell(deleteTopic(world, channelId, topic)),
        })
    }
    return items
}

function readItem(world: World, place: TalkPlace): MenuItem {
    return {
        text: t('places.read'),
        icon: CheckCheck,
        disabled: world.unread.of(place) === 0,
        run: () => void markRead(world, place),
    }
}

function linkItem(world: World, place: TalkPlace): MenuItem {
    return {
        text: t('places.link'),
        icon: Link,
        run: () => {
            const address = location.origin + location.pathname + hashOf(place, world.realm.channelName)
            void navigator.clipboard.writeText(address).then(
                () => say(t('places.linked')),
                () => sayError(t('places.failed')),
            )
        },
    }
}

/** The server, the organization and the channel have to agree; the server asks all three again when the page is opened. */
function hasPublicPage(world: World, channel: Channel): boolean {
    return (
        channel.is_web_public &&
        !channel.is_archived &&
        world.realm.value('server_web_public_streams_enabled', false) &&
        world.realm.value('realm_enable_spectator_access', false)
    )
}

/** What somebody without an account sees of a channel: a page of the server, not of this client. */
function publicItem(channelId: number): MenuItem {
    return {
        text: t('places.public'),
        icon: Globe,
        run: () => void window.open(`/public/channels/${channelId}`, '_blank', 'noopener'),
    }
}

/** A refusal says why in its own words. */
function tell(asked: Promise<Answer<object> | null>): void {
    void asked.then((answer) => {
        if (answer?.ok === false) sayError(explain(answer.error))
    })
}
