/** What the API offers has a place in the client: one journey through each page that gives it one. */
import { expect, makeChannel, ownerOf, test, unique } from './people'
import { TalkPage } from './talk-page'

test('an owner says how long messages are kept, who can join, where news go, and where code runs', async ({
    newcomer,
    dev,
}) => {
    const olga = await newcomer('Olga Rules', { role: 100 })
    const { page } = olga
    const name = unique('news')
    const id = await makeChannel(dev, name, [olga])
    const saved = page.getByRole('status').filter({ hasText: 'Saved.' })
    try {
        await olga.go('#organization/messages')
        await page.getByLabel('Messages can be moved to another topic for').selectOption('24 hours')
        await page.getByLabel('Keep messages for').selectOption('365 days')
        const question = page.getByRole('dialog', { name: 'Keep messages for only 365 days?' })
        await question.getByRole('button', { name: 'Cancel' }).click()
        await expect(page.getByLabel('Keep messages for')).toHaveValue('Forever')
        await page.getByLabel('Keep messages for').selectOption('365 days')
        await question.getByRole('button', { name: 'Delete older messages' }).click()
        await expect(saved.first()).toBeVisible()

        await olga.go('#organization/joining')
        await expect(page.getByRole('switch', { name: 'Only people with an address' })).toBeDisabled()
        await page.getByLabel('New domain').fill('garden.example')
        await page.getByRole('button', { name: 'Add' }).click()
        await expect(page.getByRole('list', { name: 'Domains' }).getByText('garden.example').first()).toBeVisible()
        await page.getByRole('switch', { name: 'Include subdomains garden.example', exact: true }).click()
        await page.getByLabel('Waiting period for new members').selectOption('3 days')
        await page.getByLabel('Welcome message').fill('Glad that you are here')
        await page.getByRole('button', { name: 'Save' }).click()
        await expect(page.getByRole('button', { name: 'Save' })).toHaveCount(0)

        await olga.go('#organization/channels')
        await page.getByLabel('New people', { exact: true }).selectOption(name)

        await olga.go('#organization/linkifiers')
        await page.getByLabel('Playground name').fill('Garden Play')
        await page.getByLabel('Language', { exact: true }).fill('Python')
        await page.getByLabel('Address, containing').fill('https://play.example/{?code}')
        await page.getByRole('button', { name: 'Add playground' }).click()
        await expect(page.getByRole('list', { name: 'Playgrounds' }).getByText('Garden Play')).toBeVisible()

        await olga.go(`#channels/${id}`)
        await page.getByLabel('Keep messages for').selectOption('Forever')
        await expect(page.getByLabel('Keep messages for')).toHaveValue('Forever')

        const state = await olga.call<Record<string, unknown>>('POST', 'register', {
            fetch_event_types: ['realm', 'realm_domains', 'stream'],
        })
        expect(state).toMatchObject({
            realm_message_retention_days: 365,
            realm_move_messages_within_stream_limit_seconds: 86_400,
            realm_waiting_period_threshold: 3,
            realm_welcome_message_custom_text: 'Glad that you are here',
            realm_signup_announcements_stream_id: id,
            realm_domains: [{ domain: 'garden.example', allow_subdomains: true }],
        })
        await olga.send(id, 'code', '```python\nprint(1)\n```')
        await olga.go(`#narrow/channel/${id}/topic/code`)
        await page.getByRole('button', { name: 'Copy' }).last().focus()
        await expect(page.getByRole('link', { name: 'Run in Garden Play' })).toHaveAttribute('href', /print/)
    } finally {
        const owner = ownerOf(dev)
        await owner.call('PATCH', 'realm', {
            message_retention_days: 'unlimited',
            move_messages_within_stream_limit_seconds: 604_800,
            waiting_period_threshold: 0,
            welcome_message_custom_text: '',
            signup_announcements_stream_id: -1,
        })
        await owner.call('DELETE', 'realm/domains/garden.example')
    }
})

test('somebody chooses how topics follow, the sound, who sees their address, and keeps a reminder in view', async ({
    newcomer,
    dev,
}) => {
    const nora = await newcomer('Nora Own')
    const { page } = nora
    const id = await makeChannel(dev, unique('plans'), [nora])
    const messageId = await nora.send(id, 'later', 'Water the tomatoes')
    await nora.go('#settings/topics')
    await page.getByLabel('Follow topics', { exact: true }).selectOption('I post in')
    await nora.go('#settings/notifications')
    await page.getByLabel('Sound', { exact: true }).selectOption('Bell')
    await page.getByLabel('Number on the tab').selectOption('No number')
    await nora.go('#settings/privacy')
    await page.getByLabel('Who can see the email address').selectOption('Administrators')
    await expect(async () => {
        const { user_settings } = await nora.call<{ user_settings: object }>('POST', 'register', {
            fetch_event_types: ['user_settings'],
        })
        expect(user_settings).toMatchObject({
            automatically_follow_topics_policy: 2,
            notification_sound: 'bell',
            desktop_icon_count_display: 4,
            email_address_visibility: 3,
        })
    }).toPass()

    const at = Math.round(Date.now() / 1000) + 86_400
    await nora.call('POST', 'reminders', { message_id: messageId, scheduled_delivery_timestamp: at })
    await page.getByRole('navigation', { name: 'Places', exact: true }).getByRole('link', { name: 'Scheduled' }).click()
    await expect(page.getByText('Water the tomatoes')).toBeVisible()
    await page.getByRole('button', { name: 'Go to the message' }).click()
    await expect(new TalkPage(page).message('Water the tomatoes')).toBeVisible()
    await nora.go('#scheduled')
    await page.getByRole('button', { name: /^Delete the reminder/ }).click()
    await expect(page.getByText('Water the tomatoes')).toHaveCount(0)
})

test('messages of somebody muted are hidden until one wants to see them', async ({ newcomer, dev }) => {
    const [mara, ned] = [await newcomer('Mara Mutes'), await newcomer('Ned Noise')]
    const id = await makeChannel(dev, unique('noise'), [mara, ned])
    await ned.send(id, 'loud', 'Buy my boat')
    await mara.go(`#narrow/channel/${id}/topic/loud`)
    await expect(mara.page.getByText('Buy my boat')).toBeVisible()
    await mara.call('POST', `users/me/muted_users/${ned.user.user_id}`)
    await expect(mara.page.getByText('You’ve muted this person.')).toBeVisible()
    await expect(mara.page.getByText('Buy my boat')).toHaveCount(0)
    await mara.page.getByRole('button', { name: 'Show message' }).click()
    await expect(mara.page.getByText('Buy my boat')).toBeVisible()
})

test('an administrator sees the bots of others and makes an address for a service; an invitation has channels and an end', async ({
    newcomer,
    dev,
}) => {
    const [ada, bo] = [await newcomer('Ada Bots', { role: 200 }), await newcomer('Bo Builder')]
    const { page } = ada
    const name = unique('builds')
    await makeChannel(dev, name, [ada])
    const bot = unique('Builds')
    await bo.call('POST', 'bots', { full_name: bot, short_name: unique('b'), bot_type: 2 })
    await ada.go('#organization/bots')
    const others = page.getByRole('region', { name: 'Other people’s bots' })
    await expect(others.getByText('owned by Bo Builder').first()).toBeVisible()
    await others.getByRole('button', { name: `Edit ${bot}` }).click()
    const secret = page.getByLabel('Signing secret')
    await page.getByLabel('Service', { exact: true }).selectOption('Anything as JSON')
    await expect(secret, 'whoever does not sign has no secret').toHaveCount(0)
    await page.getByLabel('Service', { exact: true }).selectOption('GitHub')
    await expect(secret).toBeVisible()
    await page.getByLabel('Post to').selectOption(name)
    await page.getByLabel('The bot’s key').fill('abc')
    await expect(page.getByText(`/api/v1/external/github?api_key=abc&stream=${name}`)).toBeVisible()

    await ada.go('#organization/invitations')
    await page.getByLabel('Invitation expires after').selectOption('3 days')
    await page.getByLabel('Add them to these channels, too').selectOption(name)
    await expect(page.getByRole('list', { name: 'Add them to these channels, too' }).getByText(name)).toBeVisible()
    await page.getByRole('button', { name: 'Create a link' }).click()
    await expect(page.getByText('Anyone with this link can join')).toBeVisible()
    const { invites } = await ada.call<{ invites: { invited: number; expiry_date: number }[] }>('GET', 'invites')
    const days = invites.map((each) => Math.round((each.expiry_date - each.invited) / 86_400))
    expect(days).toContain(3) // among those of other tests

    await ada.go('#organization/members')
    await page.getByPlaceholder('Find people').fill('Bo Builder')
    await expect(page.getByRole('listitem').filter({ hasText: 'Bo Builder' }).first()).toContainText('Joined')
})
