/** The channels of the side bar, in the order in which they are shown (pure): pinned ones, then each folder, then the rest.
 *
 *  Within a section muted ones come last; names decide otherwise. Where there are many, those in which nothing was said for long
 *  are folded away. */
import type { ApiFolder, Id } from '../data/api-types'
import type { Channel } from '../data/realm.svelte'

export interface Section {
    key: string
    /** Null: the word for it is the section's own (pinned, channels). */
    title: string | null
    kind: 'pinned' | 'folder' | 'other'
    channels: Channel[]
}

/** From so many on quiet channels are folded away, unless the person's settings say always (2) or never (3). */
const MANY = 30

export function foldsQuiet(policy: number, sections: readonly Section[]): boolean {
    if (policy !== 1) return policy === 2
    return sections.reduce((sum, section) => sum + section.channels.length, 0) >= MANY
}

/** Nothing was said for four weeks, as the server counts each night; a channel of this week is not judged yet. */
export function isQuiet(channel: Channel): boolean {
    return !channel.pin_to_top && (!channel.is_recently_active || channel.stream_weekly_traffic === 0)
}

export function sectionsOf(
    channels: Iterable<Channel>,
    folders: ReadonlyMap<Id, ApiFolder>,
    language: string,
): Section[] {
    const byName = new Intl.Collator(language, { numeric: true, sensitivity: 'base' }).compare
    const shown = [...channels].filter((channel) => channel.isSubscribed && !channel.is_archived)
    shown.sort((a, b) => Number(a.is_muted) - Number(b.is_muted) || byName(a.name, b.name))
    const pinned: Section = { key: 'pinned', title: null, kind: 'pinned', channels: [] }
    const other: Section = { key: 'other', title: null, kind: 'other', channels: [] }
    const inFolders = new Map<Id, Section>()
    for (const folder of [...folders.values()].sort((a, b) => a.order - b.order || byName(a.name, b.name))) {
        if (folder.is_archived) continue
        inFolders.set(folder.id, { key: `folder:${folder.id}`, title: folder.name, kind: 'folder', channels: [] })
    }
    for (const channel of shown) {
        const folder = channel.folder_id === null ? undefined : inFolders.get(channel.folder_id)
        const section = channel.pin_to_top ? pinned : (folder ?? other)
        section.channels.push(channel)
    }
    return [pinned, ...inFolders.values(), other].filter((section) => section.channels.length > 0)
}
