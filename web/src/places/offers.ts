/** Everything the palette can offer now: from the model, in the words of the chosen language. */
import { directPlace, hashOf, keyOf, type Place } from '../data/place'
import type { Realm } from '../data/realm.svelte'
import type { World } from '../data/world.svelte'
import { isOffered } from '../page/people'
import { go } from '../page/route.svelte'
import { plainText } from '../page/plain-text'
import { best } from '../ui/match'
import { t, type Word } from '../words/words.svelte'
import { completions, type Known } from './completing'
import type { Offer } from './palette'
import { termsOf, type Names } from './query'

export interface Action {
    word: Word
    /** What it is part of. */
    part?: Word
    run: () => void
}

const PAGES: [Place, Word][] = [
    [{ kind: 'inbox' }, 'places.inbox'],
    [{ kind: 'recent' }, 'places.recent'],
    [{ kind: 'feed' }, 'places.feed'],
    [{ kind: 'mentioned' }, 'places.mentions'],
    [{ kind: 'starred' }, 'places.starred'],
    [{ kind: 'search', terms: [] }, 'keys.search'],
    [{ kind: 'drafts' }, 'places.drafts'],
    [{ kind: 'scheduled' }, 'places.scheduled'],
    [{ kind: 'directs' }, 'places.direct.all'],
    [{ kind: 'channels', rest: [] }, 'places.channels.browse'],
    [{ kind: 'settings', rest: [] }, 'places.settings'],
    [{ kind: 'organization', rest: [] }, 'places.organization'],
]

export function offersOf(world: World, typed: string, actions: readonly Action[]): Offer[] {
    return [
        ...channelOffers(world),
        ...topicOffers(world),
        ...PAGES.map(([place, word]) => toPlace(place, t(word), { weight: 5 })),
        ...world.searches.all.map(({ name, terms }) =>
            toPlace({ kind: 'search', terms }, name, { group: 'search', weight: 4, hint: t('search.mine.one') }),
        ),
        ...personOffers(world),
        ...actions.map(({ word, part, run }, weight) => ({
            key: `do:${word}`,
            group: 'actions' as const,
            text: t(word),
            weight,
            ...(part ? { hint: t(part), within: t(part) } : {}),
            run,
        })),
        ...searchOffers(world, typed),
    ]

    function toPlace(place: Place, text: string, more: Partial<Offer>): Offer {
        return {
            key: keyOf(place),
            group: 'places',
            text,
            visits: world.visits.of(place),
            run: () => go(place, world.realm.channelName),
            ...more,
        }
    }

    function channelOffers({ realm, unread }: World): Offer[] {
        return [...realm.channels.values()]
            .filter((channel) => !channel.is_archived)
            .map((channel) => {
                const weight = !channel.isSubscribed ? 8 : unread.channel(channel.stream_id).loud ? 0 : 3
                return toPlace({ kind: 'channel', channelId: channel.stream_id }, channel.name, {
                    weight,
                    colour: channel.color,
                    hint: plainText(channel.rendered_description),
                })
            })
    }

    /** All with something unread, those where one was or where something was said lately, and of channels whose topics are known. */
    function topicOffers({ realm, topics, unread, visits, recent }: World): Offer[] {
        const known = new Map<string, Offer>()
        const add = (channelId: number, topic: string, weight: number) => {
            const place = { kind: 'topic', channelId, topic } as const
            const channel = realm.channels.get(channelId)
            const key = keyOf(place)
            if (!channel || channel.is_archived || known.has(key)) return
            const { name, color } = channel
            known.set(key, toPlace(place, realm.topicName(topic), { weight, hint: name, within: name, colour: color }))
        }
        for (const talk of unread.talks.values()) {
            if (talk.place.kind === 'topic' && unread.counts(talk)) add(talk.place.channelId, talk.place.topic, 1)
        }
        for (const place of [...visits.places(), ...recent.all.map((talk) => talk.place)]) {
            if (place.kind === 'topic') add(place.channelId, place.topic, 2)
        }
        for (const channel of realm.channels.values()) {
            for (const topic of topics.of(channel.stream_id)) add(channel.stream_id, topic.name, 4)
        }
        return [...known.values()]
    }
}

function personOffers(world: World): Offer[] {
    const recent = new Map(world.directs.all.map((each, index) => [keyOf(each.place), index]))
    return [...world.realm.users.values()].filter(isOffered).map((user) => {
        const place = directPlace([user.user_id], world.me)
        return {
            key: keyOf(place),
            group: 'people' as const,
            text: user.full_name,
            also: user.delivery_email ?? user.email,
            hint: user.delivery_email ?? '',
            userId: user.user_id,
            visits: world.visits.of(place),
            weight: recent.get(keyOf(place)) ?? 1000,
            run: () => go(place),
        }
    })
}

function searchOffers(world: World, typed: string): Offer[] {
    const text = typed.trim()
    const terms = termsOf(text, namesOf(world))
    const whole = completions(typed, knownTo(world)).map((complete): Offer => ({
        key: complete,
        group: 'search',
        text: complete,
        complete,
        run: () => {},
    }))
    if (!terms.length) return whole
    const search: Offer = {
        key: 'search',
        group: 'search',
        text: t('palette.search.for', { text }),
        run: () => (location.hash = hashOf({ kind: 'search', terms }, world.realm.channelName)),
    }
    return [...whole, search]
}

/** The names that a search completes: one's own channels first, and people by how lately one wrote to them. */
function knownTo({ realm, directs }: World): Known {
    const channels = [...realm.channels.values()].filter((channel) => !channel.is_archived)
    const lately = directs.all.flatMap(({ place }) => (place.kind === 'direct' ? place.userIds : []))
    const people = [...new Set([...lately, ...realm.users.keys()])].map((id) => realm.users.get(id))
    return {
        channels: channels
            .sort((a, b) => Number(b.isSubscribed) - Number(a.isSubscribed))
            .map((channel) => channel.name),
        people: people.flatMap((user) => (user && !user.is_system_bot ? [user.full_name] : [])),
    }
}

/** How a search names channels and people: whole, or by as much of the name as one remembers. */
export function namesOf({ realm }: World): Names {
    return {
        channelId: (name) =>
            best(
                realm.channels.values(),
                name,
                (each) => each.name,
                1,
                (each) => (each.isSubscribed ? 0 : 1),
            )[0]?.stream_id,
        channelName: realm.channelName,
        userId: (name) => personOf(realm, name)?.user_id,
        userName: (id) => realm.userName(id),
    }
}

function personOf(realm: Realm, name: string) {
    const isAddress = (email: string | null | undefined) => email?.toLowerCase() === name.toLowerCase()
    const users = [...realm.users.values()]
    return (
        users.find((each) => isAddress(each.email) || isAddress(each.delivery_email)) ??
        best(
            users,
            name,
            (each) => each.full_name,
            1,
            (each) => (each.is_active === false ? 1 : 0),
        )[0]
    )
}
