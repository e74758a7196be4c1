/** Which topics of the open channel the side bar shows, the newest first (pure): the newest that are worth it, those with
 *  something unread, and the one that is open. Of any kind no more than fit: a channel may have thousands. */

export const FEW = 6
/** So many more at once, when more are asked for. */
export const STEP = 50
/** So many with something unread, besides. */
export const UNREAD = 20

interface Judge<Topic> {
    isHere: (topic: Topic) => boolean
    hasUnread: (topic: Topic) => boolean
    /** Neither resolved nor muted. */
    isWorth: (topic: Topic) => boolean
}

/** `more`: how many were asked for besides; then they are shown as they come. */
export function topicsShown<Topic>(all: readonly Topic[], more: number, judge: Judge<Topic>): Topic[] {
    let unread = 0
    return all.filter((topic, index) => {
        const isNew = more > 0 ? index < FEW + more : index < FEW && judge.isWorth(topic)
        return isNew || judge.isHere(topic) || (judge.hasUnread(topic) && (unread += 1) <= UNREAD)
    })
}
