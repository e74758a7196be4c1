/** The table of emoji that the server publishes, fetched when a picker or a suggestion first needs it, and kept. */
import type { ApiRealmEmoji } from '../data/api-types'

export interface Emoji {
    /** As it is typed between colons. */
    name: string
    code: string
    type: 'unicode_emoji' | 'realm_emoji' | 'service_extra_emoji'
    /** The characters, or nothing for one that is a picture. */
    text: string
    url?: string
    /** Everything it is found by. */
    names: string[]
}

let table: Promise<Emoji[]> | undefined

/** `address` is `server_emoji_data_url` of the initial state. */
export function loadEmoji(address: string): Promise<Emoji[]> {
    table ??= fetchTable(address).catch((problem: unknown) => {
        table = undefined
        throw problem
    })
    return table
}

async function fetchTable(address: string): Promise<Emoji[]> {
    const response = await fetch(address)
    if (!response.ok) throw new Error(String(response.status))
    const data = (await response.json()) as { code_to_names: Record<string, string[]> }
    const all: Emoji[] = Object.entries(data.code_to_names).map(([code, names]) => ({
        name: names[0] ?? code,
        code,
        type: 'unicode_emoji',
        text: emojiText(code),
        names,
    }))
    return all.sort((a, b) => rankBlock(a.code) - rankBlock(b.code))
}

/** Faces and hands before hearts and animals, food and things; signs and flags last. */
const BLOCKS = [
    '1f60',
    '1f61',
    '1f62',
    '1f63',
    '1f64',
    '1f91',
    '1f92',
    '1f44',
    '1f97',
    '1f49',
    '1f40',
    '1f41',
    '1f42',
    '1f98',
    '1f33',
    '1f34',
    '1f95',
    '1f37',
    '1f38',
]

function rankBlock(code: string): number {
    const at = BLOCKS.findIndex((block) => code.startsWith(block))
    if (at !== -1) return at
    return code.startsWith('1f1') ? 99 : code.startsWith('1f') ? 50 : 80
}

export function customEmoji(all: Iterable<ApiRealmEmoji>): Emoji[] {
    return [...all]
        .filter((each) => !each.deactivated)
        .map((each) => ({
            name: each.name,
            code: each.id,
            type: 'realm_emoji',
            text: '',
            url: each.source_url,
            names: [each.name],
        }))
}

/** `1f604-200d-2640` as the characters it names. */
export function emojiText(code: string): string {
    const points = code.split('-').map((part) => Number.parseInt(part, 16))
    if (points.some((point) => Number.isNaN(point) || point > 0x10ffff)) return ''
    const text = String.fromCodePoint(...points)
    // One character whose usual look is text is asked for as a picture.
    return points.length === 1 && !/\p{Emoji_Presentation}/u.test(text) ? text + '\ufe0f' : text
}

const OFTEN = ['1f44d', '2764', '1f602', '1f389', '1f440', '1f64f', '1f680', '2705']

/** Found by any of its names: whole names first, then beginnings, then inside; the usual ones before the rest, short names
 *  before long ones. */
export function findEmoji(all: readonly Emoji[], words: string, most = Infinity): Emoji[] {
    const wanted = words.trim().toLowerCase().replaceAll(' ', '_')
    if (!wanted) return [...all].sort((a, b) => rankOften(a) - rankOften(b)).slice(0, most)
    const scored: [[score: number, often: number, length: number], Emoji][] = []
    for (const emoji of all) {
        const fitting = emoji.names.map((name) => ({ score: scoreOf(name, wanted), length: name.length }))
        const [best] = fitting.toSorted((a, b) => a.score - b.score || a.length - b.length)
        if (best && best.score < 9) scored.push([[best.score, rankOften(emoji), best.length], emoji])
    }
    return scored
        .sort(([a], [b]) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2])
        .slice(0, most)
        .map(([, emoji]) => emoji)
}

function scoreOf(name: string, wanted: string): number {
    if (name === wanted) return 0
    if (name.startsWith(wanted)) return 1
    if (name.includes(`_${wanted}`)) return 2
    return name.includes(wanted) ? 3 : 9
}

function rankOften(emoji: Emoji): number {
    const at = OFTEN.indexOf(emoji.code)
    return at === -1 ? 50 : at
}
