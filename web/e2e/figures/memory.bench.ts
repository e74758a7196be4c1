/** Memory after an hour of traffic, played in as fast as the server takes it: one message a second in ten topics of two
 *  channels, with reactions, edits, typing and presence, while the reader goes from place to place. The page is measured
 *  after each quarter, at the same place and after the garbage is gone: what it uses must not grow with what has passed. */
import { channelOf, expect, note, personOf, said, test, toNewest, useOf, type Person } from './figure'

const HOUR = Number(process.env['MESSAGES'] ?? 3600)
const QUARTERS = 4
const SENDERS = 8
const ROUNDS = 12
/** How long somebody is at the page: MINUTES=60 is the long form. */
const MINUTES = Number(process.env['MINUTES'] ?? 3)
const WARM_ROUNDS = Math.max(5, Math.ceil(MINUTES / 2))
/** Between the beginnings of two rounds, as far as they are not slower: a busy place, not a race. */
const ROUND_MS = 10_000

test.setTimeout(900_000)
test.use({ trace: 'off', screenshot: 'off' })

test('memory after an hour of traffic', async ({ browser, dev }) => {
    const [ines, kofi, yuki] = await Promise.all(['ines', 'kofi', 'yuki'].map((name) => personOf(dev, name, browser)))
    if (!ines || !kofi || !yuki) throw new Error('somebody is missing')
    const channels = [channelOf(dev, 'general'), channelOf(dev, 'kitchen')]
    const traffic = new Traffic(kofi, yuki, channels)
    const places = ['#feed', '#inbox', '#recent', ...channels.map((id) => `#narrow/channel/${id}`)]
    for (let topic = 0; topic < 10; topic += 1)
        places.push(`#narrow/channel/${channels[topic % 2]}/topic/traffic.20${topic}`)
    await traffic.play(20)
    await visit(ines, places)
    await traffic.isSeenBy(ines)
    const devtools = await ines.context.newCDPSession(ines.page)
    note('an hour of traffic: in use at the start', said(await useOf(devtools)))
    const began = Date.now()
    for (let quarter = 1; quarter <= QUARTERS; quarter += 1) {
        await Promise.all([traffic.play(HOUR / QUARTERS), visit(ines, places)])
        await traffic.isSeenBy(ines)
        note(`an hour of traffic: after ${quarter * 15} minutes`, said(await useOf(devtools)))
    }
    note('an hour of traffic: played in, s', String(Math.round((Date.now() - began) / 1000)))
    for (const person of [ines, kofi, yuki]) await person.context.close()
})

test('memory after going from place to place', async ({ browser, dev }) => {
    const ines = await personOf(dev, 'ines', browser)
    const ids = dev.channels.slice(0, 4).map((channel) => `#narrow/channel/${channel.stream_id}`)
    const places = ['#feed', '#inbox', '#recent', '#drafts', '#settings/profile', '#channels', ...ids]
    await visit(ines, places)
    const devtools = await ines.context.newCDPSession(ines.page)
    note(`after every place once`, said(await useOf(devtools)))
    for (let round = 1; round < ROUNDS; round += 1) await visit(ines, places)
    note(`after every place ${ROUNDS} times`, said(await useOf(devtools)))
    await ines.context.close()
})

test('memory over a time by the clock', async ({ browser, dev }) => {
    test.setTimeout((MINUTES + 10) * 60_000)
    const [ines, kofi, yuki] = await Promise.all(['ines', 'kofi', 'yuki'].map((name) => personOf(dev, name, browser)))
    if (!ines || !kofi || !yuki) throw new Error('somebody is missing')
    const channels = [channelOf(dev, 'general'), channelOf(dev, 'kitchen')]
    const traffic = new Traffic(kofi, yuki, channels)
    const places = ['#feed', '#inbox', '#recent', '#channels', ...channels.map((id) => `#narrow/channel/${id}`)]
    const round = async () => {
        await Promise.all([traffic.play(20), visit(ines, places)])
        await traffic.isSeenBy(ines)
    }
    // What is fetched once, caches that have an end, and code that the browser compiles are no growth.
    for (let warm = 0; warm < WARM_ROUNDS; warm += 1) await round()
    const devtools = await ines.context.newCDPSession(ines.page)
    const begin = await useOf(devtools)
    const until = Date.now() + MINUTES * 60_000
    let rounds = 0
    for (; Date.now() < until; rounds += 1) {
        await Promise.all([round(), ines.page.waitForTimeout(ROUND_MS)])
        if (rounds % 60 === 59) note(`${rounds + 1} rounds`, said(await useOf(devtools)))
    }
    const end = await useOf(devtools)
    note(`${MINUTES} minutes by the clock (${rounds} rounds): at the begin; at the end`, `${said(begin)}; ${said(end)}`)
    note(
        `${MINUTES} minutes by the clock: growth of the heap, % (budget 10)`,
        (100 * (end.heap / begin.heap - 1)).toFixed(1),
    )
    for (const person of [ines, kofi, yuki]) await person.context.close()
})

/** One after another. */
async function visit(person: Person, places: readonly string[]): Promise<void> {
    const { page } = person
    for (const place of places) {
        await person.go(place)
        await expect(page.getByRole('main').getByRole('heading', { level: 1 })).toBeVisible()
    }
}

/** What two people do in an hour, a part at a time. */
class Traffic {
    #sent = 0
    #last = 0

    constructor(
        readonly one: Person,
        readonly other: Person,
        readonly channels: readonly number[],
    ) {}

    async play(messages: number): Promise<void> {
        const until = this.#sent + messages
        const work = async () => {
            while (this.#sent < until) await this.#step((this.#sent += 1))
        }
        await Promise.all(Array.from({ length: SENDERS }, work))
    }

    async #step(at: number): Promise<void> {
        const channel = this.channels[at % 2] ?? 0
        const topic = `traffic ${at % 10}`
        if (at % 4 === 0) await this.#types(channel, topic)
        const id = await this.one.send(channel, topic, `Message ${at} of a busy hour, with **some** words`)
        this.#last = Math.max(this.#last, id)
        if (at % 3 === 0) await this.other.call('POST', `messages/${id}/reactions`, { emoji_name: 'tada' })
        if (at % 10 === 0) await this.one.call('PATCH', `messages/${id}`, { content: `Message ${at}, said better` })
        if (at % 60 === 0)
            await this.other.call('POST', 'users/me/presence', { status: 'active', new_user_input: true })
    }

    #types(channel: number, topic: string): Promise<unknown> {
        return this.other.call('POST', 'typing', { op: 'start', type: 'channel', stream_id: channel, topic })
    }

    /** They go to the feed's end, and the last message is there. */
    async isSeenBy(person: Person): Promise<void> {
        await visit(person, ['#feed'])
        await toNewest(person.page, this.#last)
    }
}
