/** Web Push from end to end. Only the browser maker's push service is ours: it takes what the worker encrypts and posts, and what
 *  it reads is handed to the service worker as the browser would. */
import type { BrowserContext } from '@playwright/test'
import { callerOf, expect, makeChannel, test, unique } from './people'
import { startPushService, type PushService } from './push-service'
import { TalkPage } from './talk-page'
import { press, shownBy, workerOf } from './worker'

/** Runs in the page before anything else: subscribing leads to our push service. */
function subscribeAt(given: PushService['subscription']): void {
    const { endpoint, p256dh, auth } = given
    const made = (key: string | null) =>
        key && {
            endpoint,
            options: { applicationServerKey: Uint8Array.from(key.split(','), Number).buffer },
            toJSON: () => ({ endpoint, keys: { p256dh, auth } }),
            unsubscribe: async () => localStorage.removeItem('browser:push'),
        }
    const subscription = () => made(localStorage.getItem('browser:push'))
    PushManager.prototype.getSubscription = async () => subscription() as unknown as PushSubscription
    PushManager.prototype.subscribe = async (options) => {
        localStorage.setItem('browser:push', String(options?.applicationServerKey))
        return subscription() as unknown as PushSubscription
    }
}

/** Gives a push to the service worker of this browser. */
async function pushTo(context: BrowserContext, origin: string): Promise<(data: string) => Promise<void>> {
    const devtools = await context.newCDPSession(await context.newPage())
    const found = new Promise<string>((resolve) => {
        devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
            const ours = registrations.find(({ scopeURL }) => scopeURL === `${origin}/`)
            if (ours) resolve(ours.registrationId)
        })
    })
    await devtools.send('ServiceWorker.enable')
    const registrationId = await found
    return async (data) =>
        void (await devtools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data }))
}

/** What a test started. */
const after: (() => void)[] = []
test.afterEach(() => {
    for (const stop of after.splice(0)) stop()
})

test('who is away is told by a push that only their browser can read, and a click leads there', async ({
    newcomer,
    dev,
}) => {
    const service = await startPushService()
    after.push(service.stop)
    const wanda = await newcomer('Wanda Away', { permissions: ['notifications'] })
    const kofi = callerOf(dev, 'kofi')
    const [name, topic] = [unique('away'), 'Tea & biscuits?']
    const channel = await makeChannel(dev, name, [wanda, kofi])
    // Who is active is not pushed to: she does not say that she is.
    await wanda.call('PATCH', 'settings', { presence_enabled: false })
    const { page, context } = wanda
    await context.addInitScript(subscribeAt, service.subscription)
    await wanda.go('#settings/notifications')
    await page.getByRole('switch', { name: /Notify me in this browser/ }).click()
    await expect(page.getByText('This browser will notify you when you’re away.')).toBeVisible()
    const push = await pushTo(context, new URL(dev.url).origin)
    await page.goto('about:blank')

    const id = await kofi.send(channel, topic, `@**Wanda Away|${wanda.user.user_id}** the kettle is on`)
    const { headers, data } = await service.next()
    expect(headers).toMatchObject({
        'content-encoding': 'aes128gcm',
        authorization: expect.stringMatching(/^vapid t=.+, ?k=.+/),
        ttl: expect.stringMatching(/^\d+$/),
    })
    expect(JSON.parse(data)).toMatchObject({ message_id: id, trigger: 'mentioned', sender_full_name: 'Kofi Mensah' })

    const worker = await workerOf(context)
    const shown = () => shownBy(worker)
    await push(data)
    await expect.poll(async () => (await shown()).length).toBe(1)
    const [note] = await shown()
    expect(note).toMatchObject({ title: `Kofi Mensah · #${name} > ${topic}`, body: '@Wanda Away the kettle is on' })

    // A page that is looked at is no reason to keep silent; one conversation is one notification.
    await page.goto(`${dev.url}/#inbox`)
    await page.bringToFront()
    await expect(page.getByRole('heading', { name: 'Inbox', exact: true })).toBeVisible()
    expect(await shown(), 'it is unread still').toHaveLength(1)
    const second = await kofi.send(channel, topic, `@**Wanda Away|${wanda.user.user_id}** and the cups`)
    await push((await service.next()).data)
    await expect.poll(shown).toMatchObject([{ title: `Kofi Mensah · #${name} > ${topic} (2)`, tag: note?.tag }])

    // Its button does what it says, through the API.
    await press(worker, 'read')
    await expect.poll(shown).toEqual([])
    const asked = { message_ids: [id, second] }
    const unread = () => wanda.call<{ unread_message_ids: number[] }>('GET', 'users/me/unread', asked)
    // It goes at once, and the call is still under way.
    await expect.poll(async () => (await unread()).unread_message_ids).toEqual([])

    await kofi.send(channel, topic, `@**Wanda Away|${wanda.user.user_id}** biscuits?`)
    await push((await service.next()).data)
    await expect.poll(async () => (await shown()).length).toBe(1)
    await press(worker, 'reply', 'Three, please')
    await expect.poll(() => kofi.texts(channel, topic)).toContain('Three, please')
    await expect.poll(shown).toEqual([])

    // Whoever wants to know whether it works tries it.
    await wanda.go('#settings/notifications')
    await page.getByRole('button', { name: 'Send a test notification' }).click()
    await expect(page.getByText('It’s on its way')).toBeVisible()
    const tried = JSON.parse((await service.next()).data)
    expect(tried).toMatchObject({ type: 'test', notification: { title: 'It works' } })

    await kofi.send(channel, topic, `@**Wanda Away|${wanda.user.user_id}** come`)
    await push((await service.next()).data)
    await expect.poll(async () => (await shown()).length).toBe(1)
    const [last] = await shown()
    await press(worker, '')
    await expect(page).toHaveURL(/\/near\/\d+$/)
    expect(new URL(page.url()).hash, 'the page tags it in the same way').toContain(`${last?.tag}/near/`)
    await new TalkPage(page).sees('the kettle is on')
    await expect.poll(shown).toEqual([])
})
