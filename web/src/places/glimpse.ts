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

/** What it says in one line, after its sender's name; nothing of somebody who is muted. */
export function glimpseText(realm: Realm, { senderId, html }: Glimpse): string {
    if (realm.mutedUsers.has(senderId)) return ''
    return withoutCommand(html) || t('places.line.file')
}

/** The commands as the talk shows them: `/me` goes on after the name, a poll is its question. */
function withoutCommand(html: string): string {
    const [, command] = /^<p>\/(me|poll|todo)\b/.exec(html) ?? []
    if (command === undefined) return plainText(html, LENGTH)
    if (command === 'me') return plainText(html.replace('/me', ''), LENGTH)
    const [first = ''] = html.split('<br')
    const heading = plainText(first.replace(`/${command}`, ''), LENGTH)
    return [t(command === 'poll' ? 'poll.label' : 'todo.label'), heading].filter(Boolean).join(' · ')
}
