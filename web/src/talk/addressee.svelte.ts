/** To whom the compose box writes: where the place is one conversation it says so; elsewhere it is chosen, and each part of
 *  the choice is kept while the others change. */
import { sendPlaceOf } from '../data/drafts.svelte'
import type { Message } from '../data/message.svelte'
import type { SendPlace } from '../data/outbox.svelte'
import { directPlace, type TalkPlace } from '../data/place'
import type { World } from '../data/world.svelte'
import { RIGHT_TO_LEFT } from '../ui/direction'
import { t } from '../words/words.svelte'
import { peopleText } from '../page/people'

export class Addressee {
    kind = $state<'channel' | 'direct'>('channel')
    channelId = $state<number | null>(null)
    topic = $state('')
    userIds = $state.raw<number[]>([])
    readonly #world: Pick<World, 'me' | 'realm'>
    readonly #place: () => TalkPlace

    constructor(world: Pick<World, 'me' | 'realm'>, place: () => TalkPlace) {
        this.#world = world
        this.#place = place
    }

    /** The place is one conversation. */
    get isFixed(): boolean {
        const { kind } = this.#place()
        return kind === 'topic' || kind === 'direct'
    }

    readonly target = $derived.by((): SendPlace | null => {
        if (this.isFixed) return this.#place() as SendPlace
        if (this.kind === 'direct')
            return this.userIds.length ? (directPlace(this.userIds, this.#world.me) as SendPlace) : null
        return this.channelId === null ? null : { kind: 'topic', channelId: this.channelId, topic: this.topic.trim() }
    })

    readonly channel = $derived.by(() =>
        this.target?.kind === 'topic' ? this.#world.realm.channels.get(this.target.channelId) : undefined,
    )

    /** A topic must be named, and none is. */
    readonly lacksTopic = $derived.by(() => {
        if (this.target?.kind !== 'topic' || this.target.topic !== '') return false
        const policy = this.channel?.topics_policy
        const inherited = () => this.#world.realm.value('realm_topics_policy', null)
        return (policy === 'inherit' ? inherited() : policy) === 'disable_empty_topic'
    })

    readonly maySend = $derived.by(
        () => this.channel === undefined || this.#world.realm.may(this.channel.can_send_message_group),
    )

    readonly placeholder = $derived.by(() => {
        const { target } = this
        const { realm } = this.#world
        if (!target) return t('compose.placeholder')
        if (target.kind === 'direct')
            return t('compose.placeholder.to', { name: isolated(peopleText(this.#world, target.userIds)) })
        const channel = isolated(`#${this.channel?.name ?? ''}`)
        const hasTopic = target.topic || this.#place().kind === 'topic'
        return t('compose.placeholder.to', {
            name: hasTopic ? `${channel} › ${isolated(realm.topicName(target.topic))}` : channel,
        })
    })

    /** Begin anew with what the place says. */
    come(): void {
        const to = sendPlaceOf(this.#place())
        this.channelId = to?.kind === 'topic' ? to.channelId : null
        this.topic = to?.kind === 'topic' ? to.topic : ''
        this.userIds = to?.kind === 'direct' ? to.userIds : []
        this.kind = to?.kind === 'direct' ? 'direct' : 'channel'
    }

    /** To where a message is, unless the place says where. */
    followTo(message: Pick<Message, 'conversation'>): void {
        if (this.isFixed) return
        const to = message.conversation(this.#world.me)
        if (to.kind === 'topic') {
            this.kind = 'channel'
            this.channelId = to.channelId
            this.topic = to.topic
        } else if (to.kind === 'direct') {
            this.kind = 'direct'
            this.userIds = to.userIds
        }
    }
}

/** Read in its own direction, without turning what is around it: for texts that take no elements. */
const isolated = (name: string) => (RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name)
