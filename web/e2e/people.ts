/** People for tests: each a browser of their own, signed in, and the API besides, to set the scene and to look behind it. */
import {
    test as base,
    expect,
    type Browser,
    type BrowserContext,
    type BrowserContextOptions,
    type Page,
} from '@playwright/test'
import type { Dev, DevUser } from './server'

export { expect }

let counter = 0

/** A word that no other test uses. */
export function unique(word: string): string {
    counter += 1
    return `${word}-${process.pid}-${Date.now().toString(36)}-${counter}`
}

/** The header of who calls with a key. */
export const basic = (email: string | undefined, key: string | undefined): string =>
    'Basic ' + Buffer.from(`${email}:${key}`).toString('base64')

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
        const headers: Record<string, string> = { Authorization: basic(this.user.email, this.user.api_key) }
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

/** Somebody at a browser that is signed in already. */
export async function personOf(dev: Dev, name: string, browser: Browser, options: object = {}): Promise<Person> {
    return signedIn(dev, userOf(dev, name), browser, options)
}

/** Sign a new browser in, by the session as the sign-in page does it. */
async function signedIn(dev: Dev, user: DevUser, browser: Browser, options: object): Promise<Person> {
    const context = await browser.newContext({ baseURL: dev.url, ...options })
    const answer = await context.request.post('/api/v1/sessions', {
        form: { username: user.email, password: user.password ?? '' },
    })
    expect(answer.ok()).toBe(true)
    return new Person(dev, user, context, await context.newPage())
}

function userOf(dev: Dev, name: string): DevUser {
    const user = dev.users.find((each) => each.email.startsWith(`${name}@`))
    if (!user?.password) throw new Error(`there is no ${name}`)
    return user
}

export const callerOf = (dev: Dev, name: string): Caller => new Caller(dev, userOf(dev, name))

export function ownerOf(dev: Dev): Caller {
    const owner = dev.users.find((user) => user.role === 100)
    if (!owner) throw new Error('there is no owner')
    return new Caller(dev, owner)
}

/** Type the password into the dialog that asks who is there. */
export async function proveIt({ page, user }: Person): Promise<void> {
    const again = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await again.getByLabel('Current password').fill(user.password ?? '')
    await again.getByRole('button', { name: 'Continue' }).click()
}

const PASSWORD = 'violet anchors drift slowly'

/** Somebody whom no other test knows: nothing unread, no drafts, in no channel, and free to change their settings. */
export async function newcomerTo(dev: Dev, fullName: string, role = 400): Promise<DevUser> {
    const owner = ownerOf(dev)
    const email = `${unique('newcomer')}@example.com`
    const { user_id } = await owner.call<{ user_id: number }>('POST', 'users', {
        email,
        password: PASSWORD,
        full_name: fullName,
    })
    if (role !== 400) await owner.call('PATCH', `users/${user_id}`, { role })
    const body = new URLSearchParams({ username: email, password: PASSWORD })
    const answer = await fetch(`${dev.url}/api/v1/fetch_api_key`, { method: 'POST', body })
    const { api_key } = (await answer.json()) as { api_key: string }
    return { user_id, email, password: PASSWORD, api_key, role }
}

/** A channel with these people in it. */
export async function makeChannel(dev: Dev, name: string, people: Caller[]): Promise<number> {
    const { id } = await ownerOf(dev).call<{ id: number }>('POST', 'channels/create', {
        name,
        subscribers: people.map((each) => each.user.user_id),
    })
    return id
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
    /** Somebody new, signed in; closed after the test. */
    newcomer: (fullName: string, options?: BrowserContextOptions & { role?: number }) => Promise<Person>
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
    newcomer: async ({ browser, dev }, use) => {
        const people: Person[] = []
        await use(async (fullName, { role, ...options } = {}) => {
            const person = await signedIn(dev, await newcomerTo(dev, fullName, role), browser, options)
            people.push(person)
            return person
        })
        await Promise.all(people.map((person) => person.context.close()))
    },
})
