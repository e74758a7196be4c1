/** People for tests: each a browser of their own, signed in, and the API besides, to set the scene and to look behind it. */
import { test as base, expect, type Browser, type BrowserContext, type Page } from '@playwright/test'
import type { Dev, DevUser } from './server'

export { expect }

let counter = 0

/** A word that no other test uses. */
export function unique(word: string): string {
    counter += 1
    return `${word}-${process.pid}-${Date.now().toString(36)}-${counter}`
}

/** The API as one person, with their key. */
export class Caller {
    constructor(
        readonly dev: Dev,
        readonly user: DevUser,
    ) {}

    async call<T = Record<string, unknown>>(
        method: string,
        path: string,
        params: Record<string, unknown> = {},
    ): Promise<T> {
        const headers: Record<string, string> = {
            Authorization: 'Basic ' + Buffer.from(`${this.user.email}:${this.user.api_key}`).toString('base64'),
        }
        let url = `${this.dev.url}/api/v1/${path}`
        const init: RequestInit = { method, headers }
        if (method === 'GET') {
            const text = Object.entries(params).map(([key, value]) => [
                key,
                typeof value === 'string' ? value : JSON.stringify(value),
            ])
            url += '?' + new URLSearchParams(text as [string, string][]).toString()
        } else {
            headers['Content-Type'] = 'application/json'
            init.body = JSON.stringify(params)
        }
        const answer = (await (await fetch(url, init)).json()) as T & { result: string }
        expect(answer, `${method} ${path}`).toMatchObject({ result: 'success' })
        return answer
    }

    async send(channelId: number, topic: string, content: string): Promise<number> {
        const { id } = await this.call<{ id: number }>('POST', 'messages', {
            type: 'channel',
            to: channelId,
            topic,
            content,
        })
        return id
    }

    /** The texts in a topic, as they were written, oldest first. */
    async texts(channelId: number, topic: string): Promise<string[]> {
        const { messages } = await this.call<{ messages: { content: string }[] }>('GET', 'messages', {
            narrow: [
                { operator: 'channel', operand: channelId },
                { operator: 'topic', operand: topic },
            ],
            anchor: 'newest',
            num_before: 1000,
            num_after: 0,
            apply_markdown: false,
        })
        return messages.map((message) => message.content)
    }
}

/** Somebody at a browser. */
export class Person extends Caller {
    constructor(
        dev: Dev,
        user: DevUser,
        readonly context: BrowserContext,
        readonly page: Page,
    ) {
        super(dev, user)
    }

    /** Go to a place by its address. */
    async go(hash: string): Promise<void> {
        const { page, dev } = this
        if (page.url().startsWith(dev.url)) await page.evaluate((to) => (location.hash = to), hash)
        else await page.goto(dev.url + '/' + hash)
    }
}

/** Sign a new browser in, by the session as the sign-in page does it. */
export async function personOf(dev: Dev, name: string, browser: Browser, options: object = {}): Promise<Person> {
    const user = dev.users.find((each) => each.email.startsWith(`${name}@`))
    if (!user?.password) throw new Error(`there is no ${name}`)
    const context = await browser.newContext({ baseURL: dev.url, ...options })
    const answer = await context.request.post('/api/v1/sessions', {
        form: { username: user.email, password: user.password },
    })
    expect(answer.ok()).toBe(true)
    return new Person(dev, user, context, await context.newPage())
}

export function channelOf(dev: Dev, name: string): number {
    const found = dev.channels.find((channel) => channel.name === name)
    if (!found) throw new Error(`there is no channel ${name}`)
    return found.stream_id
}

interface Fixtures {
    dev: Dev
    /** Signs somebody in; closed after the test. */
    person: (name: string, options?: object) => Promise<Person>
}

export const test = base.extend<Fixtures>({
    // oxlint-disable-next-line no-empty-pattern -- how a fixture without others is written
    dev: async ({}, use) => {
        await use(JSON.parse(process.env['TERTULIA_E2E'] ?? '{}') as Dev)
    },
    person: async ({ browser, dev }, use) => {
        const people: Person[] = []
        await use(async (name, options) => {
            const person = await personOf(dev, name, browser, options)
            people.push(person)
            return person
        })
        await Promise.all(people.map((person) => person.context.close()))
    },
})
