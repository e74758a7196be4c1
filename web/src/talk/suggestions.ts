/** What is offered for what the text asks: from what is known here, so that it is there at once. */
import type { TalkPlace } from '../data/place'
import type { World } from '../data/world.svelte'
import { t } from '../words/words.svelte'
import { customEmoji, findEmoji, loadEmoji } from '../page/emoji'
import { isOffered } from '../page/people'
import { best } from '../ui/match'
import type { Asked } from './suggest'

export interface Suggestion {
    key: string
    text: string
    /** What it is, softly behind. */
    note?: string
    /** Instead of what was typed. */
    insert: string
    person?: { id: number; name: string; url: string | null | undefined }
    color?: string
    glyph?: string
    picture?: string
    /** Taking it asks for more: a topic after a channel. */
    goesOn?: boolean
}

const MOST = 8

export async function suggestionsFor(asked: Asked, world: World, place: TalkPlace | null): Promise<Suggestion[]> {
    switch (asked.kind) {
        case 'mention':
            return mentions(asked.words, asked.silent, world)
        case 'channel':
            return channels(asked.words, world)
        case 'topic':
            return topics(asked.channel, asked.words, world)
        case 'emoji':
            return emoji(asked.words, world)
        case 'command':
            return commands(asked.words, place)
    }
}

function mentions(words: string, silent: boolean, world: World): Suggestion[] {
    const sign = silent ? '@_' : '@'
    const users = [...world.realm.users.values()].filter(isOffered)
    const found = best(
        users,
        words,
        (user) => user.full_name,
        MOST,
        (user) => (user.is_bot ? 1 : 0),
    )
    const people: Suggestion[] = found.map((user) => {
        const twice = users.filter((other) => other.full_name.toLowerCase() === user.full_name.toLowerCase()).length > 1
        const name = twice ? `${user.full_name}|${user.user_id}` : user.full_name
        return {
            key: `u${user.user_id}`,
            text: user.full_name,
            ...(user.user_id === world.me ? { note: t('people.you') } : user.is_bot ? { note: t('people.bot') } : {}),
            insert: `${sign}**${name}** `,
            person: { id: user.user_id, name: user.full_name, url: user.avatar_url },
        }
    })
    const groups = [...world.realm.groups.values()].filter((group) => !group.is_system_group && !group.deactivated)
    const teams: Suggestion[] = best(groups, words, (group) => group.name, 4).map((group) => ({
        key: `g${group.id}`,
        text: group.name,
        note: t('suggest.group'),
        insert: `${sign}*${group.name}* `,
    }))
    const everybody: Suggestion[] = best(['all', 'topic'], words, (word) => word, words ? 2 : 0).map((word) => ({
        key: `w${word}`,
        text: word,
        note: word === 'all' ? t('suggest.all') : t('suggest.topic'),
        insert: `${sign}**${word}** `,
    }))
    return [...people, ...teams, ...everybody].slice(0, MOST)
}

function channels(words: string, world: World): Suggestion[] {
    const all = [...world.realm.channels.values()].filter((channel) => !channel.is_archived)
    return best(
        all,
        words,
        (channel) => channel.name,
        MOST,
        (channel) => (channel.isSubscribed ? 0 : 1),
    ).map((channel) => ({
        key: `c${channel.stream_id}`,
        text: channel.name,
        insert: `#**${channel.name}** `,
        color: channel.color,
    }))
}

async function topics(name: string, words: string, world: World): Promise<Suggestion[]> {
    const channel = [...world.realm.channels.values()].find((each) => each.name === name)
    if (!channel) return []
    await world.topics.load(channel.stream_id)
    const all = world.topics.of(channel.stream_id)
    return best(
        all,
        words,
        (topic) => topic.name,
        MOST,
        (topic) => -topic.max_id,
    ).map((topic) => ({
        key: topic.name,
        text: world.realm.topicName(topic.name),
        insert: `#**${name}>${topic.name}** `,
        color: channel.color,
    }))
}

async function emoji(words: string, world: World): Promise<Suggestion[]> {
    const custom = customEmoji(world.realm.emoji.values())
    const table = await loadEmoji(world.realm.value('server_emoji_data_url', '')).catch(() => [])
    return findEmoji([...custom, ...table], words, MOST).map((each) => ({
        key: each.type + each.code,
        text: `:${each.name}:`,
        insert: `:${each.name}: `,
        ...(each.url ? { picture: each.url } : { glyph: each.text }),
    }))
}

function commands(words: string, place: TalkPlace | null): Suggestion[] {
    const all = [
        { key: 'me', note: t('command.me') },
        ...(place?.kind === 'direct' || place ? [{ key: 'poll', note: t('command.poll') }] : []),
        { key: 'todo', note: t('command.todo') },
    ]
    return best(all, words, (each) => each.key).map((each) => ({
        ...each,
        text: `/${each.key}`,
        insert: `/${each.key} `,
    }))
}
