/** The line of a list that says what its newest message says: asked for when the line comes into view. */
import type { Attachment } from 'svelte/attachments'
import type { Id } from '../data/api-types'
import type { Glimpse, Glimpses } from '../data/glimpses.svelte'
import type { Realm } from '../data/realm.svelte'
import { plainText } from '../page/plain-text'
import { t } from '../words/words.svelte'

const LENGTH = 200

export function asksFor(glimpses: Glimpses, id: Id): Attachment {
    return (line) => {
        void glimpses.turn
        const watcher = new IntersectionObserver((seen) => {
            if (seen.some((each) => each.isIntersecting)) glimpses.want(id)
        })
        watcher.observe(line)
        return () => watcher.disconnect()
    }
}

/** What it says in one line; nothing of somebody who is muted. */
export function glimpseText(realm: Realm, { senderId, html }: Glimpse): string {
    if (realm.mutedUsers.has(senderId)) return ''
    return plainText(html, LENGTH) || t('places.line.file')
}
