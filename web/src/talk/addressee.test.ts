import { describe, expect, it } from 'vitest'
import type { TalkPlace } from '../data/place'
import type { World } from '../data/world.svelte'
import { Addressee } from './addressee.svelte'

const me = 5
const LUNCH: TalkPlace = { kind: 'topic', channelId: 1, topic: 'lunch' }
const WITH_ANA: TalkPlace = { kind: 'direct', userIds: [7] }

/** Channel 1 is as the test says; group 2 is not ours. */
function stage(place: TalkPlace, channel: object = {}, realm: Record<string, unknown> = {}) {
    const channels = new Map([
        [1, { name: 'general', topics_policy: 'inherit', can_send_message_group: 1, ...channel }],
        [2, { name: 'kitchen', topics_policy: 'inherit', can_send_message_group: 1 }],
    ])
    const world = {
        me,
        realm: {
            channels,
            value: (name: string, otherwise: unknown) => realm[name] ?? otherwise,
            may: (group: number) => group !== 2,
            topicName: (topic: string) => topic || 'general chat',
            userName: (id: number) => ({ 7: 'Ana', 8: 'Bo' })[id] ?? '',
        },
    } as unknown as World
    return new Addressee(world, () => place)
}

const inConversation = (place: TalkPlace) => ({ conversation: () => place })

describe('in a place that is one conversation', () => {
    it('it is that one, whatever is answered', () => {
        const addressee = stage(LUNCH)
        addressee.come()
        addressee.followTo(inConversation(WITH_ANA))
        expect([addressee.isFixed, addressee.target]).toEqual([true, LUNCH])
        expect(addressee.placeholder).toContain('#general › lunch')
    })

    it('its empty topic has a name', () => {
        expect(stage({ kind: 'topic', channelId: 1, topic: '' }).placeholder).toContain('#general › general chat')
    })
})

describe('in a place that mixes several', () => {
    it('it is nobody at first', () => {
        const addressee = stage({ kind: 'feed' })
        addressee.come()
        expect([addressee.isFixed, addressee.target, addressee.maySend]).toEqual([false, null, true])
    })

    it('it is the channel one is in, and the topic that is typed', () => {
        const addressee = stage({ kind: 'channel', channelId: 1 })
        addressee.come()
        expect(addressee.target).toEqual({ kind: 'topic', channelId: 1, topic: '' })
        expect(addressee.placeholder).toMatch(/#general$/)
        addressee.topic = ' lunch '
        expect(addressee.target).toEqual(LUNCH)
    })

    it('it follows the message that is answered', () => {
        const addressee = stage({ kind: 'feed' })
        addressee.come()
        addressee.followTo(inConversation(LUNCH))
        expect(addressee.target).toEqual(LUNCH)
        addressee.followTo(inConversation(WITH_ANA))
        expect(addressee.target).toMatchObject(WITH_ANA)
        expect(addressee.placeholder).toContain('Ana')
        // Both choices are kept.
        addressee.kind = 'channel'
        expect(addressee.target).toEqual(LUNCH)
    })
})

describe('a channel', () => {
    const unnamed: TalkPlace = { kind: 'topic', channelId: 1, topic: '' }

    it.each([
        ['disable_empty_topic', '', true],
        ['allow_empty_topic', 'disable_empty_topic', false],
        ['inherit', 'disable_empty_topic', true],
        ['inherit', 'allow_empty_topic', false],
    ])('with %s in an organization with %s asks for a topic: %s', (topics_policy, realm_topics_policy, asks) => {
        expect(stage(unnamed, { topics_policy }, { realm_topics_policy }).lacksTopic).toBe(asks)
        expect(stage(LUNCH, { topics_policy }, { realm_topics_policy }).lacksTopic).toBe(false)
    })

    it('says who may write', () => {
        expect([stage(LUNCH).maySend, stage(LUNCH, { can_send_message_group: 2 }).maySend]).toEqual([true, false])
    })
})
