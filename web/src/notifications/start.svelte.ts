/** What a signed-in page does besides showing: it announces messages, counts in its tab, tells that somebody is here, and listens to
 *  other tabs. `startNotifications` begins all of it and gives what ends it. */
import { untrack } from 'svelte'
import type { ApiNewMessage, EventOf, Id } from '../data/api-types'
import { conversationOf } from '../data/message.svelte'
import type { Outgoing } from '../data/outbox.svelte'
import { hashOf, isTalk, keyOf, type Place } from '../data/place'
import type { World } from '../data/world.svelte'
import { plainText } from '../page/plain-text'
import { sayError } from '../ui/toasts.svelte'
import { t } from '../words/words.svelte'
import { cameFor } from './asking.svelte'
import { showBadge, showIcon, titleOf } from './badge'
import { makesSound, showsOnDesktop, whyOf } from './deserves'
import { mayAnnounce } from './claims'
import { closeAll, closeRead, notify } from './notices'
import { keepPush } from './push'
import { isQuiet } from './quiet'
import { keepShell } from './shell'
import { playSound } from './sound'

/** Of a text in a notification. */
const LONGEST = 200

export interface Options {
    /** Where the reader is: reactive. */
    place: () => Place | null
    /** What the place is called, for the tab: reactive. */
    title: () => string
    go: (hash: string) => void
}

export function startNotifications(world: World, options: Options): () => void {
    void keepShell()
    const stops = [
        watchBadge(world, options),
        watchPeople(world),
        watchTabs(world),
        keepPush(world.api, options.go),
        watchOutbox(world, options),
        watchNotices(world, options),
    ]
    return () => {
        for (const stop of stops) stop()
        document.title = 'Tertulia'
        showIcon(0)
        showBadge(0)
    }
}

/** What the tab counts, by my settings: everything, direct messages and mentions, or nothing. */
export function badgeCount(world: World): number {
    switch (world.realm.settings.desktop_icon_count_display) {
        case 1:
            return world.unread.total
        case 2:
        case 3:
            return world.unread.directCount + world.unread.mentions.size
        default:
            return 0
    }
}

function watchBadge(world: World, options: Options): () => void {
    return $effect.root(() => {
        $effect(() => {
            const count = badgeCount(world)
            document.title = titleOf(options.title(), world.realm.value('realm_name', 'Tertulia'), count)
            showIcon(count)
            showBadge(count)
        })
    })
}

function watchPeople(world: World): () => void {
    const note = () => world.presence.active()
    const kinds = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const
    for (const kind of kinds) addEventListener(kind, note, { passive: true })
    const leave = () => {
        if (document.visibilityState === 'hidden') {
            void world.drafts.flush()
            void world.reads.flush()
            world.keepTalks()
        }
    }
    document.addEventListener('visibilitychange', leave)
    return () => {
        for (const kind of kinds) removeEventListener(kind, note)
        document.removeEventListener('visibilitychange', leave)
    }
}

/** Announces what comes, and takes away what was read since; all of it, when somebody signs out. */
function watchNotices(world: World, options: Options): () => void {
    let heardOf = 0
    let isOver = false
    // A page that slept does not know yet of what was pushed meanwhile.
    const isUnread = (id: Id) => id > Math.max(heardOf, newestOf(world)) || world.unread.has(id)
    const withdraw = () => void closeRead(isUnread)
    const come = () => {
        if (document.visibilityState === 'visible') withdraw()
    }
    document.addEventListener('visibilitychange', come)
    // At the start, and when what happened since had to be asked for anew.
    const stop = $effect.root(() => {
        $effect(() => {
            newestOf(world)
            untrack(withdraw)
        })
    })
    world.onEvent = (event) => {
        if (event.type === 'message') {
            heardOf = Math.max(heardOf, event.message.id)
            void announce(event, world, options, () => isOver)
        } else if (event.type === 'update_message_flags' && event.flag === 'read') withdraw()
    }
    return () => {
        isOver = true
        world.onEvent = () => {}
        stop()
        document.removeEventListener('visibilitychange', come)
        void closeAll()
    }
}

const newestOf = (world: World) => world.realm.value('max_message_id', 0)

/** A message that could not be sent is told of where it is not on the screen. */
function watchOutbox(world: World, options: Options): () => void {
    const told = new Set(failedOf(world.outbox.all).map((each) => each.localId))
    return $effect.root(() => {
        $effect(() => {
            const failed = failedOf(world.outbox.all)
            untrack(() => {
                const ids = new Set(failed.map((each) => each.localId))
                for (const id of told) if (!ids.has(id)) told.delete(id)
                const place = options.place()
                const shown = place && isTalk(place) ? world.outbox.of(place) : []
                for (const each of failed) {
                    if (told.has(each.localId)) continue
                    told.add(each.localId)
                    if (shown.includes(each)) continue
                    const see = () => options.go(hashOf(each.place, world.realm.channelName))
                    sayError([t('outgoing.failed'), each.error ?? ''].join(' ').trim(), {
                        text: t('outgoing.see'),
                        run: see,
                    })
                }
            })
        })
    })
}

const failedOf = (all: readonly Outgoing[]) => all.filter((each) => each.state === 'failed')

function watchTabs(world: World): () => void {
    const hear = (event: StorageEvent) => {
        if (event.key && event.newValue === null) world.outbox.goneElsewhere(event.key)
    }
    addEventListener('storage', hear)
    return () => removeEventListener('storage', hear)
}

async function announce(
    { message, flags }: EventOf<'message'>,
    world: World,
    options: Options,
    isOver: () => boolean,
): Promise<void> {
    const why = whyOf(message, flags, world.realm)
    if (why === null || isQuiet(world.realm.settings, Date.now() / 1000)) return
    const [shows, sounds] = [showsOnDesktop(why, message, world.realm), makesSound(why, message, world.realm)]
    if (!shows && !sounds) return
    if (shows) cameFor(why)
    if (!(await mayAnnounce(message.id, isLookedAt(message, world, options))) || isOver()) return
    if (sounds) playSound(world.realm.settings.notification_sound)
    if (shows) await show(message, world, options)
}

/** It is on the screen of somebody who looks at it. */
function isLookedAt(message: ApiNewMessage, world: World, options: Options): boolean {
    const place = options.place()
    if (!document.hasFocus() || !place) return false
    return keyOf(place) === keyOf(conversationOf(message, world.me))
}

async function show(message: ApiNewMessage, world: World, options: Options): Promise<void> {
    if (!('Notification' in globalThis) || Notification.permission !== 'granted') return
    const { realm } = world
    const place = conversationOf(message, world.me)
    const isHidden = message.type === 'private' && !realm.settings.pm_content_in_desktop_notifications
    const where = message.type === 'stream' ? `#${message.display_recipient} > ${realm.topicName(message.subject)}` : ''
    const notice = {
        body: isHidden ? '' : plainText(message.content, LONGEST),
        icon: message.avatar_url ?? '/static/icon.svg',
        tag: hashOf(place, realm.channelName),
        messageId: message.id,
        sender: message.sender_full_name,
        where,
        userId: world.me,
        url: hashOf({ ...place, near: message.id }, realm.channelName),
    }
    await notify(notice, options.go)
}

/** Ask for leave to notify; only after somebody pressed a button for it. */
export async function askForNotifications(): Promise<boolean> {
    return 'Notification' in globalThis && (await Notification.requestPermission()) === 'granted'
}
