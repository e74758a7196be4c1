/** One’s own settings without a mouse: what is changed is so for others and at the server, and the focus stays where one goes on. */
import { basic, Caller, callerOf, expect, makeChannel, type Person, test, unique } from './people'
import { Keys } from './keyboard-only'
import { PICTURE } from './pictures'

async function settingsOf(person: Person): Promise<Record<string, unknown>> {
    const { user_settings } = await person.call<{ user_settings: Record<string, unknown> }>('POST', 'register', {
        fetch_event_types: ['user_settings'],
    })
    return user_settings
}

test('a status is chosen and written, stands beside one’s own picture, and is cleared', async ({ newcomer, dev }) => {
    const nora = await newcomer('Nora Status')
    const { page } = nora
    const [keys, kofi] = [new Keys(nora), callerOf(dev, 'kofi')]
    const seen = async () => (await kofi.call<{ status: object }>('GET', `users/${nora.user.user_id}/status`)).status
    await nora.go('#settings/profile')
    const part = page.getByRole('region', { name: 'Status' })
    await keys.enter(part.getByRole('button', { name: 'Choose an emoji' }))
    await expect(page.getByRole('combobox', { name: 'Search emoji' })).toBeFocused()
    await keys.type('tada')
    await expect(page.getByRole('option', { name: 'tada', exact: true, selected: true })).toBeVisible()
    await keys.press('Enter')
    await expect(part.getByRole('button', { name: 'Emoji: tada. Choose another' })).toBeFocused()
    await keys.press('Tab')
    await keys.type('Celebrating')
    await keys.press('Enter')
    await expect.poll(seen).toEqual({
        status_text: 'Celebrating',
        emoji_name: 'tada',
        emoji_code: '1f389',
        reaction_type: 'unicode_emoji',
    })
    await expect(page.getByRole('link', { name: 'Your profile and status Celebrating' })).toBeVisible()

    await keys.enter(part.getByRole('button', { name: 'On holiday' }))
    await expect(part.getByRole('textbox', { name: 'Status' })).toHaveValue('On holiday')
    await keys.enter(part.getByRole('button', { name: 'Clear status' }))
    await expect.poll(seen).toEqual({})
    await expect(part.getByRole('button', { name: 'Clear status' })).toHaveCount(0)
    await expect(part.getByRole('textbox', { name: 'Status' }), 'the next is written there').toBeFocused()
    await expect(page.getByRole('link', { name: 'Your profile and status', exact: true })).toBeVisible()
})

test('a picture is chosen and taken away again', async ({ newcomer, dev }) => {
    const nora = await newcomer('Nora Picture')
    const keys = new Keys(nora)
    const kofi = callerOf(dev, 'kofi')
    const seen = async () => {
        const path = `users/${nora.user.user_id}`
        const { user } = await kofi.call<{ user: { avatar_url: string } }>('GET', path)
        return (await nora.context.request.get(user.avatar_url)).headers()['content-type'] ?? ''
    }
    await nora.go('#settings/profile')
    const part = nora.page.getByRole('region', { name: 'Picture' })
    const chooser = nora.page.waitForEvent('filechooser')
    const before = await seen()
    await keys.enter(part.getByRole('button', { name: 'Choose a picture' }))
    await (await chooser).setFiles({ name: 'me.png', mimeType: 'image/png', buffer: PICTURE })
    await expect.poll(seen).not.toBe(before)

    await keys.enter(part.getByRole('button', { name: 'Remove' }))
    await expect.poll(seen).toBe(before)
    await expect(part.getByRole('button', { name: 'Remove' }), 'there is none to remove').toHaveCount(0)
    await expect(part.getByRole('button', { name: 'Choose a picture' })).toBeFocused()
})

test('the look, the hours and the language are chosen from lists that a key opens', async ({ newcomer, dev }) => {
    const nora = await newcomer('Nora Looks')
    const { page } = nora
    const keys = new Keys(nora)
    const id = await makeChannel(dev, unique('hours'), [nora])
    await nora.send(id, 'noon', '<time:2026-03-10T14:05:00+01:00>')
    await nora.go('#settings/appearance')
    const list = (name: string) => page.getByRole('combobox', { name, exact: true })
    await keys.choose(list('Theme'), 'Dark theme')
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
    await keys.choose(list('Text size'), '20 px')
    await keys.choose(list('Density'), 'Compact')
    await keys.toggle(page.getByRole('switch', { name: 'Use the full width for messages' }))
    await keys.choose(list('Start page'), 'Recent conversations')
    await keys.toggle(page.getByRole('switch', { name: '24-hour clock' }))
    // Its name is in the new language as soon as that is there.
    await keys.choose(page.getByRole('combobox', { name: /^(Language|Sprache)$/ }), 'Deutsch')
    await expect(page.getByRole('heading', { level: 1, name: 'Einstellungen' })).toBeVisible()
    await expect(page.getByRole('combobox', { name: 'Sprache', exact: true }), 'the list stays').toBeFocused()
    await expect
        .poll(() => settingsOf(nora))
        .toMatchObject({
            color_scheme: 2,
            web_font_size_px: 20,
            web_line_height_percent: expect.any(Number),
            fluid_layout_width: true,
            web_home_view: 'recent_topics',
            twenty_four_hour_time: true,
            default_language: 'de',
        })
    await nora.go(`#narrow/channel/${id}/topic/noon`)
    await expect(page.getByRole('log').locator('.message-body time')).toHaveText(/14:05/)
})

test('notifications pause for an hour, and rest in the hours and on the days one says', async ({ newcomer }) => {
    const nora = await newcomer('Nora Rests')
    const { page } = nora
    const keys = new Keys(nora)
    await nora.go('#settings/notifications')
    const part = page.getByRole('region', { name: 'Quiet time' })
    const pause = part.getByRole('combobox', { name: 'Pause notifications' })
    await keys.reach(pause)
    await keys.press('Space')
    await keys.type('For 1 hour')
    await keys.press('Enter')
    await expect(pause.locator('option:checked')).toHaveText(/^Until/)
    const { notifications_paused_until } = await settingsOf(nora)
    const hours = (Number(notifications_paused_until) - Date.now() / 1000) / 3600
    expect(hours).toBeGreaterThan(0.9)
    expect(hours).toBeLessThanOrEqual(1)

    await keys.toggle(part.getByRole('switch', { name: 'Quiet hours' }))
    await keys.choose(part.getByRole('combobox', { name: 'From' }), '9:30 PM')
    await keys.choose(part.getByRole('combobox', { name: 'To', exact: true }), '6:00 AM')
    const saturday = part.getByRole('switch', { name: 'Starting on Saturday' })
    const wasOn = await saturday.isChecked()
    await keys.toggle(saturday)
    await expect(async () => {
        const now = await settingsOf(nora)
        expect(now).toMatchObject({
            quiet_hours_enabled: true,
            quiet_hours_start: 21 * 60 + 30,
            quiet_hours_end: 6 * 60,
            timezone: 'Europe/Berlin',
        })
        expect(Boolean(Number(now['quiet_hours_days']) & (1 << 5))).toBe(!wasOn)
    }).toPass()
    await expect(saturday).toBeFocused()
    await keys.choose(pause, 'Not now')
    await expect.poll(async () => (await settingsOf(nora))['notifications_paused_until']).toBe(0)
})

test('alert words are added, refused twice, and removed one after the other', async ({ newcomer, dev }) => {
    const nora = await newcomer('Nora Alerts')
    const { page } = nora
    const [keys, kofi] = [new Keys(nora), callerOf(dev, 'kofi')]
    const id = await makeChannel(dev, unique('words'), [nora, kofi])
    await nora.go('#settings/notifications')
    const part = page.getByRole('region', { name: 'Alert words' })
    const field = part.getByRole('textbox', { name: 'Word' })
    for (const word of ['harbour', 'lantern']) {
        await keys.write(field, word)
        await keys.press('Enter')
        await expect(part.getByRole('button', { name: `Remove ${word}` })).toBeVisible()
        await expect(field).toHaveValue('')
    }
    await keys.write(field, 'Harbour')
    await keys.press('Enter')
    await expect(part.getByText('You already have this word.')).toBeVisible()
    await expect(field).toBeFocused()
    await expect(field).toHaveAccessibleDescription('You already have this word.')
    const alerts = async (content: string) => {
        const message = await kofi.send(id, 'news', content)
        const answer = await nora.call<{ message: { flags: string[] } }>('GET', `messages/${message}`)
        return answer.message.flags.includes('has_alert_word')
    }
    expect(await alerts('The lantern is lit')).toBe(true)

    await keys.enter(part.getByRole('button', { name: 'Remove harbour' }))
    await expect(part.getByRole('button', { name: 'Remove harbour' })).toHaveCount(0)
    await expect(part.getByRole('button', { name: 'Remove lantern' }), 'the same key removes the next').toBeFocused()
    await keys.press('Enter')
    await expect(part.getByText('No alert words yet.'), 'what says so has the focus').toBeFocused()
    expect(await alerts('The lantern is lit again')).toBe(false)
})

test('somebody is muted by their name, and heard again', async ({ newcomer, dev }) => {
    const [nora, loud] = [await newcomer('Nora Mutes'), unique('Ned Loud')]
    const ned = await newcomer(loud)
    const { page } = nora
    const keys = new Keys(nora)
    const id = await makeChannel(dev, unique('noise'), [nora, ned])
    const isRead = async () => {
        const message = await ned.send(id, 'boats', 'Buy my boat')
        const answer = await nora.call<{ message: { flags: string[] } }>('GET', `messages/${message}`)
        return answer.message.flags.includes('read')
    }
    await nora.go('#settings/privacy')
    const part = page.getByRole('region', { name: 'Muted people' })
    await keys.pick(part.getByRole('combobox', { name: 'Mute someone' }), loud)
    await keys.press('Enter')
    await expect(part.getByRole('list', { name: 'Muted people' }).getByText(loud)).toBeVisible()
    await expect(part.getByRole('combobox', { name: 'Mute someone' })).toBeFocused()
    expect(await isRead()).toBe(true)

    await keys.enter(part.getByRole('button', { name: `Unmute ${loud}` }))
    await expect(part.getByText('You haven’t muted anyone.')).toBeFocused()
    expect(await isRead()).toBe(false)
})

test('another browser is signed out, and a key is made and revoked', async ({ newcomer, browser, dev }) => {
    const nora = await newcomer('Nora Keys')
    const { page } = nora
    const keys = new Keys(nora)
    const elsewhere = await browser.newContext({ baseURL: dev.url })
    const form = { username: nora.user.email, password: nora.user.password ?? '' }
    expect((await elsewhere.request.post('/api/v1/sessions', { form })).ok()).toBe(true)
    await nora.go('#settings/devices')
    const browsers = page.getByRole('region', { name: 'Where you’re signed in' })
    await keys.enter(browsers.getByRole('button', { name: /^Sign out/ }))
    await keys.agree('Sign out of that browser?', 'Sign out')
    await keys.prove()
    await expect(browsers.getByRole('listitem')).toHaveCount(1)
    expect((await elsewhere.request.get('/api/v1/users/me')).status()).toBe(401)
    await elsewhere.close()

    const part = page.getByRole('region', { name: 'API keys' })
    const count = await part.getByRole('listitem').count()
    await keys.enter(part.getByRole('button', { name: 'New key' }))
    await keys.prove()
    const shown = part.getByRole('status').locator('code')
    const made = new Caller(dev, { ...nora.user, api_key: await shown.innerText() })
    await made.call('GET', 'users/me')
    await expect(part.getByRole('listitem')).toHaveCount(count + 1)
    await expect(part.getByRole('button', { name: 'New key' })).toBeFocused()
    for (let left = count; left >= 0; left--) {
        await keys.enter(part.getByRole('button', { name: /^Revoke/ }).first())
        await keys.agree(/^Revoke the key/, 'Revoke')
        await keys.prove()
        if (left) await expect(part.getByRole('listitem')).toHaveCount(left)
    }
    await expect(part.getByText('No keys.')).toBeFocused()
    const headers = { Authorization: basic(made.user.email, made.user.api_key) }
    expect((await fetch(`${dev.url}/api/v1/users/me`, { headers })).status).toBe(401)
})

test('a bot is made, gets another key, and is deactivated', async ({ newcomer, dev }) => {
    const nora = await newcomer('Nora Builds')
    const { page } = nora
    const keys = new Keys(nora)
    const [name, short] = [unique('Builder'), unique('builder')]
    await nora.go('#organization/bots')
    const fresh = page.getByRole('region', { name: 'New bot' })
    await keys.write(fresh.getByRole('textbox', { name: 'Name', exact: true }), name)
    await keys.write(fresh.getByRole('textbox', { name: 'Username' }), short)
    await keys.choose(fresh.getByRole('combobox', { name: 'Type' }), 'Reads and writes')
    await keys.enter(fresh.getByRole('button', { name: 'Create bot' }))
    await keys.prove()
    const mine = page.getByRole('region', { name: 'Your bots' })
    const shown = mine.getByRole('status').locator('code')
    const email = `${short}-bot@`
    await expect(mine.getByText(email).first()).toBeVisible()
    const works = async (api_key: string) => {
        const { members } = await nora.call<{ members: { full_name: string; email: string }[] }>('GET', 'users')
        const bot = members.find((each) => each.full_name === name)
        const headers = { Authorization: basic(bot?.email, api_key) }
        return (await fetch(`${dev.url}/api/v1/users/me`, { headers })).ok
    }
    const first = await shown.innerText()
    expect(await works(first)).toBe(true)

    await keys.enter(mine.getByRole('button', { name: `New key for ${name}` }))
    await keys.agree(`Create a new key for ${name}?`, 'New key')
    await keys.prove()
    await expect(shown).not.toHaveText(first)
    await expect(mine.getByRole('button', { name: `New key for ${name}` })).toBeFocused()
    const second = await shown.innerText()
    expect([await works(first), await works(second)]).toEqual([false, true])

    await keys.enter(mine.getByRole('button', { name: `Deactivate ${name}` }))
    await keys.agree(`Deactivate ${name}?`, 'Deactivate')
    await expect(mine.getByText('No bots yet.')).toBeFocused()
    expect(await works(second)).toBe(false)
})

test('a file is found in one’s own list, shown in its message, and deleted', async ({ newcomer, dev }) => {
    const nora = await newcomer('Nora Files')
    const { page } = nora
    const keys = new Keys(nora)
    const id = await makeChannel(dev, unique('shelf'), [nora])
    const name = `${unique('plan')}.txt`
    const sent = await nora.context.request.post('/api/v1/user_uploads', {
        headers: { Authorization: basic(nora.user.email, nora.user.api_key) },
        multipart: { file: { name, mimeType: 'text/plain', buffer: Buffer.from('Two rooms') } },
    })
    const { url } = (await sent.json()) as { url: string }
    await nora.send(id, 'rooms', `[${name}](${url})`)
    await nora.go('#settings/files')
    await keys.enter(page.getByRole('button', { name: `Go to the message with ${name}` }))
    await expect(page).toHaveURL(/topic\/rooms/)
    await expect(keys.main).toBeFocused()
    expect((await nora.context.request.get(url)).ok()).toBe(true)

    await nora.go('#settings/files')
    await keys.enter(page.getByRole('button', { name: `Delete ${name}` }))
    await keys.agree(`Delete ${name}?`, 'Delete')
    await expect(page.getByText('You haven’t uploaded any files.')).toBeFocused()
    expect((await nora.context.request.get(url)).status()).toBe(404)
})

test('topics that one follows and mutes are changed where all of them stand', async ({ newcomer, dev }) => {
    const nora = await newcomer('Nora Follows')
    const { page } = nora
    const keys = new Keys(nora)
    const id = await makeChannel(dev, unique('garden'), [nora])
    const follow = (topic: string) => nora.call('POST', 'user_topics', { stream_id: id, topic, visibility_policy: 3 })
    await Promise.all(['beans', 'roses'].map(follow))
    const policies = async () => {
        const { user_topics } = await nora.call<{ user_topics: { topic_name: string; visibility_policy: number }[] }>(
            'POST',
            'register',
            { fetch_event_types: ['user_topic'] },
        )
        return Object.fromEntries(user_topics.map((each) => [each.topic_name, each.visibility_policy]))
    }
    await nora.go('#settings/topics')
    const [followed, muted] = ['Topics you follow', 'Muted topics'].map((name) => page.getByRole('region', { name }))
    const list = (topic: string) => page.getByRole('combobox', { name: `Notifications for ${topic}` })
    await keys.choose(list('beans'), 'Mute')
    await expect(muted!.getByRole('link', { name: 'beans' })).toBeVisible()
    await expect(followed!.getByRole('link', { name: 'beans' })).toHaveCount(0)
    await expect(list('roses'), 'the next one has the focus').toBeFocused()
    expect(await policies()).toEqual({ beans: 1, roses: 3 })

    await keys.enter(followed!.getByRole('link', { name: 'roses' }))
    await expect(page).toHaveURL(/topic\/roses/)
})

test('one signs out, mistypes the password, asks for another, and signs in', async ({ newcomer, dev }) => {
    const nora = await newcomer('Nora Returns')
    const { page } = nora
    const keys = new Keys(nora)
    await nora.go('#settings/account')
    await keys.enter(page.getByRole('region', { name: 'This browser' }).getByRole('button', { name: 'Sign out' }))
    const [address, password] = [page.getByLabel('Email'), page.getByLabel('Password', { exact: true })]
    await expect(address).toBeFocused()
    expect((await nora.context.request.get(`${dev.url}/api/v1/users/me`)).status()).toBe(401)
    await keys.type(nora.user.email)
    await keys.write(password, 'not this one')
    await keys.press('Enter')
    await expect(page.getByRole('alert')).toBeVisible()
    await expect(password).toBeFocused()

    await keys.enter(page.getByRole('link', { name: 'Forgot your password?' }))
    await expect(page.getByRole('heading', { name: 'Choose a new password' })).toBeVisible()
    await expect(address).toBeFocused()
    await keys.type(nora.user.email)
    await keys.press('Enter')
    await expect(page.getByRole('status')).toContainText(nora.user.email)

    await keys.enter(page.getByRole('link', { name: /Sign in/ }))
    await expect(address).toBeFocused()
    await keys.type(nora.user.email)
    await keys.write(password, nora.user.password ?? '')
    await keys.press('Tab')
    await expect(page.getByRole('button', { name: 'Show password' })).toBeFocused()
    await keys.press('Enter')
    await expect(password).toHaveAttribute('type', 'text')
    await keys.enter(page.getByRole('button', { name: 'Sign in', exact: true }))
    await expect(keys.main).toBeFocused()
    expect((await nora.context.request.get(`${dev.url}/api/v1/users/me`)).ok()).toBe(true)
})
