/** What the list of messages is made of, from top to bottom (pure): bars for days and conversations, the line where the
 *  unread begin, and messages, each told whether it begins a run of its sender.
 *
 *  Keys are stable: a message keeps its key whatever is loaded before it, so its measured height and its element stay. */

export interface Row {
    id: number
    senderId: number
    timestamp: number
    /** The conversation; a change of it begins a new block. */
    conversation: string
    day: number
    isMe: boolean
}

export type Item =
    | { kind: 'day'; key: string; timestamp: number }
    | { kind: 'bar'; key: string; index: number }
    | { kind: 'unread'; key: string }
    | { kind: 'beginning'; key: string }
    | { kind: 'message'; key: string; index: number; head: boolean }

export interface LayoutOptions {
    /** Show a bar for each conversation: in places that mix several. */
    bars: boolean
    /** The unread line stands before this message. */
    unreadFrom: number | null
    /** Nothing comes before the first row. */
    beginning?: boolean
}

/** Messages of one sender closer than this are one run. */
const RUN_SECONDS = 600

export function layOut(rows: readonly Row[], { bars, unreadFrom, beginning = false }: LayoutOptions): Item[] {
    const items: Item[] = []
    if (beginning && rows.length) items.push({ kind: 'beginning', key: 'beginning' })
    let last: Row | undefined
    for (const [index, row] of rows.entries()) {
        // What was before the first row is not known, unless nothing was: a bar that is taken back would be a jump.
        const isFirst = last === undefined && !beginning
        const newDay = !isFirst && row.day !== last?.day
        const newPlace = !isFirst && bars && row.conversation !== last?.conversation
        const unread = unreadFrom !== null && row.id >= unreadFrom && beginsUnread(unreadFrom, last, row, beginning)
        if (newDay) items.push({ kind: 'day', key: `day-${row.id}`, timestamp: row.timestamp })
        if (newPlace || (bars && newDay)) items.push({ kind: 'bar', key: `bar-${row.id}`, index })
        if (unread) items.push({ kind: 'unread', key: 'unread' })
        const head = newDay || newPlace || unread || last === undefined || !continues(last, row)
        items.push({ kind: 'message', key: `m-${row.id}`, index, head })
        last = row
    }
    return items
}

/** Rows that begin after the first unread message, which is above them, have no line. */
function beginsUnread(unreadFrom: number, last: Row | undefined, row: Row, beginning: boolean): boolean {
    return last ? last.id < unreadFrom : row.id === unreadFrom || beginning
}

function continues(last: Row, row: Row): boolean {
    return last.senderId === row.senderId && row.timestamp - last.timestamp < RUN_SECONDS && !row.isMe && !last.isMe
}
