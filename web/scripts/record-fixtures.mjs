/** Records what a real server says, for the tests of `src/data`: a state, everything that happens for a while, and the state after it.
 *
 *      tertulia dev --fresh --port 0 --json > dev.json     (in another shell; a new server each time)
 *      node scripts/record-fixtures.mjs dev.json
 *
 *  Writes src/data/fixtures/recorded.json. Keys of the server and its address are left out or replaced. */
import { readFileSync, writeFileSync } from 'node:fs'

const dev = JSON.parse(readFileSync(process.argv[2], 'utf8').split('\n')[0])
const LEFT_OUT =
    /^(server_supported_permission_settings|realm_default_external_accounts|streams|zulip_|custom_profile_field_types)/
const users = Object.fromEntries(dev.users.map((user) => [user.email.split('@')[0], user]))

async function call(name, method, path, params = {}, headers = {}) {
    const user = users[name]
    const init = {
        method,
        headers: { Authorization: 'Basic ' + btoa(`${user.email}:${user.api_key}`), ...headers },
    }
    let url = `${dev.url}/api/v1/${path}`
    const text = Object.entries(params).map(([key, value]) => [
        key,
        typeof value === 'string' ? value : JSON.stringify(value),
    ])
    if (method === 'GET') url += '?' + new URLSearchParams(text)
    else {
        init.headers['Content-Type'] = 'application/json'
        init.body = JSON.stringify(params)
    }
    const answer = await (await fetch(url, init)).json()
    if (answer.result !== 'success') throw new Error(`${name} ${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
}

const registration = {
    apply_markdown: true,
    client_gravatar: false,
    slim_presence: true,
    client_capabilities: {
        notification_settings_null: true,
        bulk_message_deletion: true,
        stream_typing_notifications: true,
        linkifier_url_template: true,
        user_list_incomplete: true,
        include_deactivated_groups: true,
        archived_channels: true,
        empty_topic_name: true,
        simplified_presence_events: true,
    },
}

async function register() {
    const state = await call('ines', 'POST', 'register', registration)
    return Object.fromEntries(Object.entries(state).filter(([name]) => !LEFT_OUT.test(name)))
}

async function eventsUntil(queue, isLast) {
    const events = []
    let last = queue.last_event_id
    while (!events.some(isLast)) {
        const answer = await call('ines', 'GET', 'events', { queue_id: queue.queue_id, last_event_id: last })
        events.push(...answer.events)
        last = answer.events.at(-1)?.id ?? last
    }
    return events.filter((event) => event.type !== 'heartbeat')
}

const send = async (name, to, topic, content, more = {}) =>
    (await call(name, 'POST', 'messages', { type: 'channel', to, topic, content, ...more })).id
const direct = async (name, to, content) => (await call(name, 'POST', 'messages', { type: 'direct', to, content })).id
const id = (name) => users[name].user_id
const [general, kitchen, website] = dev.channels.map((channel) => channel.stream_id)

async function happen(queueId) {
    const first = await send('kofi', general, 'Lunch', 'Who comes along, @**Inés Aldecoa**?')
    const second = await send('yuki', general, 'lunch', 'I do. :tada:')
    const third = await send('anton', general, 'welcome', 'Somewhere else')
    await send('ines', kitchen, 'dishes', 'Mine', { queue_id: queueId, local_id: 'own-1', read_by_sender: true })
    const alone = await direct('kofi', [id('ines')], 'Psst')
    await direct('yuki', [id('ines'), id('kofi')], 'The three of us')
    await call('yuki', 'POST', `messages/${first}/reactions`, { emoji_name: 'tada' })
    await call('kofi', 'POST', `messages/${first}/reactions`, { emoji_name: 'tada' })
    await call('kofi', 'DELETE', `messages/${first}/reactions`, { emoji_name: 'tada' })
    await call('kofi', 'PATCH', `messages/${first}`, { content: 'Who comes along? *Nobody named.*' })
    await call('anton', 'PATCH', `messages/${third}`, {
        topic: 'lunch',
        propagate_mode: 'change_one',
        send_notification_to_new_thread: false,
    })
    await call('anton', 'PATCH', `messages/${second}`, {
        stream_id: website,
        topic: 'moved lunch',
        propagate_mode: 'change_all',
        send_notification_to_new_thread: false,
        send_notification_to_old_thread: false,
    })
    const doomed = await send('ines', general, 'short', 'Gone soon')
    await call('ines', 'DELETE', `messages/${doomed}`)
    await call('ines', 'POST', 'messages/flags', { messages: [first, third], op: 'add', flag: 'read' })
    await call('ines', 'POST', 'messages/flags', { messages: [first], op: 'remove', flag: 'read' })
    await call('ines', 'POST', 'messages/flags', { messages: [alone], op: 'add', flag: 'starred' })
    await call('ines', 'POST', 'user_topics', { stream_id: kitchen, topic: 'coffee machine', visibility_policy: 1 })
    await call('ines', 'POST', 'users/me/subscriptions/properties', {
        subscription_data: [
            { stream_id: website, property: 'is_muted', value: true },
            { stream_id: kitchen, property: 'pin_to_top', value: true },
            { stream_id: kitchen, property: 'color', value: '#336699' },
        ],
    })
    await call('kofi', 'POST', 'typing', { op: 'start', type: 'stream', stream_id: general, topic: 'lunch' })
    await call('kofi', 'POST', 'typing', { op: 'stop', type: 'stream', stream_id: general, topic: 'lunch' })
    await call('kofi', 'POST', 'users/me/status', { status_text: 'Baking', emoji_name: 'cake' })
    await call('yuki', 'POST', 'users/me/status', { status_text: 'Away' })
    await call('yuki', 'POST', 'users/me/status', { status_text: '' })
    const draft = await call('ines', 'POST', 'drafts', {
        drafts: [{ type: 'stream', to: [general], topic: 'lunch', content: 'I wo', timestamp: 1700000000 }],
    })
    await call('ines', 'PATCH', `drafts/${draft.ids[0]}`, {
        draft: { type: 'stream', to: [general], topic: 'lunch', content: 'I would', timestamp: 1700000001 },
    })
    await call('ines', 'POST', 'scheduled_messages', {
        type: 'channel',
        to: general,
        topic: 'lunch',
        content: 'Later',
        scheduled_delivery_timestamp: 4000000000,
    })
    await call('ines', 'PATCH', 'settings', { enter_sends: true })
    await call('ines', 'PATCH', 'realm', { description: 'Tried out', message_content_edit_limit_seconds: 1200 })
    await call('ines', 'PATCH', `users/${id('lea')}`, { full_name: 'Léa F.', role: 300 })
    await call('ines', 'DELETE', `users/${id('gil')}`)
    const group = await call('ines', 'POST', 'user_groups/create', {
        name: 'bakers',
        description: 'Cake',
        members: [id('kofi')],
    })
    await call('ines', 'POST', `user_groups/${group.group_id}/members`, { add: [id('yuki')], delete: [id('kofi')] })
    await call('ines', 'PATCH', `user_groups/${group.group_id}`, { name: 'pastry cooks' })
    await call('anton', 'POST', 'users/me/subscriptions', {
        subscriptions: [{ name: 'new ideas', description: 'Fresh' }],
        principals: [id('anton'), id('ines')],
    })
    await call('anton', 'POST', 'users/me/subscriptions', { subscriptions: [{ name: 'elsewhere' }] })
    await call('ines', 'DELETE', 'users/me/subscriptions', { subscriptions: ['new ideas'] })
    await call('ines', 'PATCH', `streams/${general}`, { description: 'All and *sundry*', new_name: 'everything' })
    await call('ines', 'POST', `users/me/muted_users/${id('mairead')}`)
    await call('ines', 'POST', 'users/me/alert_words', { alert_words: ['cake'] })
    await call('ines', 'POST', 'channel_folders/create', { name: 'Work', description: '' })
    await call('ines', 'POST', 'saved_snippets', { title: 'Thanks', content: 'Thank you!' })
    return send('kofi', general, 'the end', 'That was all.')
}

const before = await register()
const end = await happen(before.queue_id)
const events = await eventsUntil(before, (event) => event.type === 'message' && event.message.id === end)
const after = await register()
const { messages } = await call('ines', 'GET', 'messages', {
    anchor: 'newest',
    num_before: 100,
    num_after: 0,
    allow_empty_topic_name: true,
})
const text = JSON.stringify({ before, events, after, messages }, null, 1).replaceAll(dev.url, 'http://chat.example.com')
writeFileSync(new URL('../src/data/fixtures/recorded.json', import.meta.url), text + '\n')
console.log(`${events.length} events, ${Math.round(text.length / 1000)} kB`)
