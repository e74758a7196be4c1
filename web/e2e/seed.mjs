/** Fills a `tertulia dev` with talk worth looking at: node e2e/seed.mjs FILE, where FILE holds the line that
 *  `tertulia dev --json` printed. Several people and scripts, code, formulas, polls, reactions, a long topic. */
import { readFileSync } from 'node:fs'

const server = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const people = server.users.filter((user) => user.password)
const [ines, anton, mairead, kofi, yuki, lea, gil] = people

async function call(user, method, path, params) {
    const body = new URLSearchParams()
    for (const [name, value] of Object.entries(params))
        body.set(name, typeof value === 'string' ? value : JSON.stringify(value))
    const request = new Request(`${server.url}/api/v1/${path}`, {
        method,
        headers: { Authorization: `Basic ${Buffer.from(`${user.email}:${user.api_key}`).toString('base64')}` },
        // oxlint-disable-next-line unicorn/no-invalid-fetch-options -- never a GET
        body,
    })
    const reply = await fetch(request)
    const answer = await reply.json()
    if (answer.result !== 'success') console.log(method, path, answer.msg)
    return answer
}

const send = async (user, to, topic, content) =>
    (
        await call(
            user,
            'POST',
            'messages',
            topic === null ? { type: 'direct', to, content } : { type: 'channel', to, topic, content },
        )
    ).id
const react = (user, id, emoji_name) => call(user, 'POST', `messages/${id}/reactions`, { emoji_name })

await call(ines, 'PATCH', `users/${gil.user_id}`, { full_name: 'ليلى حداد' })
await call(ines, 'POST', 'users/me/subscriptions', {
    subscriptions: [
        { name: 'design', description: 'How it looks and feels' },
        { name: 'release 2.0', description: 'What ships, when, and who says so' },
        { name: 'random' },
    ],
    principals: people.map((each) => each.user_id),
})

const d1 = await send(
    lea,
    'design',
    'colour of unread',
    'I tried three accents against the warm paper. Terracotta is the only one that reads as *calm* and still stands out in dark mode:\n\n| Accent | On paper | On dark |\n|:---|---:|---:|\n| Terracotta | 5.6 | 8.1 |\n| Teal | 4.9 | 7.0 |\n| Plum | 6.3 | 5.2 |',
)
await react(ines, d1, '+1')
await react(kofi, d1, '+1')
await react(yuki, d1, 'heart')
await send(lea, 'design', 'colour of unread', 'The mock-up is in the folder; the second page has the phone.')
await send(ines, 'design', 'colour of unread', 'Terracotta it is. @**Anton Weber** can you take the tokens?')
await send(
    anton,
    'design',
    'colour of unread',
    'On it. The scale is one place, both themes come from it:\n```css\n:root {\n    color-scheme: light dark;\n    /* text on paper: at least 4.5:1 */\n    --accent: light-dark(oklch(0.525 0.14 40), oklch(0.755 0.115 50));\n    --paper: light-dark(oklch(0.988 0.005 80), oklch(0.205 0.007 60));\n}\n```',
)
await send(gil, 'design', 'colour of unread', 'يبدو رائعًا! اللون الدافئ مريح للعين في الليل.')
await send(
    mairead,
    'design',
    'colour of unread',
    '> Terracotta it is.\n\nLovely. One wish: `--unread` and `--accent` stay two names, so that we can part them later.',
)
const poll = await send(
    kofi,
    'random',
    'friday lunch',
    '/poll Where do we eat on Friday?\nThe park, if it is dry\nCafé Central\nRamen',
)
await send(yuki, 'random', 'friday lunch', 'Ramen ramen ramen :ramen:')
const p = await call(kofi, 'POST', 'submessage', {
    message_id: poll,
    msg_type: 'widget',
    content: JSON.stringify({ type: 'vote', key: 'canned,2', vote: 1 }),
})
if (p.result === 'success')
    for (const who of [yuki, lea, ines])
        await call(who, 'POST', 'submessage', {
            message_id: poll,
            msg_type: 'widget',
            content: JSON.stringify({ type: 'vote', key: who === ines ? 'canned,0' : 'canned,2', vote: 1 }),
        })
await send(mairead, 'random', 'friday lunch', '/me brings an umbrella either way')
await send(
    ines,
    'release 2.0',
    'checklist',
    '/todo Before we ship\nMigration rehearsed: on a copy of production\nRelease notes\nThank the translators',
)
await send(
    anton,
    'release 2.0',
    'error in the importer',
    'It falls over on empty lines:\n```python\nasync def import_lines(path: Path) -> int:\n    """Read one record per line; an empty line ends the file."""\n    count = 0\n    async for line in read(path):\n        record = parse(line)  # raises on ""\n        count += 1\n    return count\n```\nThe fix is one line, see #**website>builds**.',
)
const bug = await send(
    kofi,
    'release 2.0',
    'error in the importer',
    'Confirmed. The expected cost is $$\\sum_{i=1}^{n} \\frac{1}{i} \\approx \\ln n$$, so large files feel it most:\n```math\n\\int_0^1 \\frac{\\ln(1+x)}{x}\\,dx = \\frac{\\pi^2}{12}\n```',
)
await react(anton, bug, 'eyes')
await react(mairead, bug, 'rocket')
await send(
    yuki,
    'release 2.0',
    'error in the importer',
    '```spoiler What happens at the end of the film\nThe importer imports itself.\n```',
)
await send(
    lea,
    'release 2.0',
    'error in the importer',
    'Details: https://example.org/importer and <time:2026-11-20T15:00:00+01:00>. Ping @**Inés Aldecoa** when it is in.',
)
await send(kofi, [ines.user_id], null, 'Do you have five minutes after the stand-up?')
await send(kofi, [ines.user_id], null, 'It is about the **budget** for the next quarter; nothing dramatic.')
await send(mairead, [ines.user_id, lea.user_id], null, 'Surprise cake at four. Not a word to Kofi :shushing_face:')
const long = 'The quiet part of the afternoon is when most of the real work gets done, and nobody has to say so.'.split(
    ' ',
)
for (let n = 0; n < Number(process.argv[3] ?? 60); n++) {
    const who = people[(n * 5 + (n >> 2)) % 6]
    await send(
        who,
        'general',
        'an endless afternoon',
        `${n + 1}. ${long.slice(n % 7, 5 + ((n * 7) % 14)).join(' ') || 'Yes.'}${n % 9 === 0 ? '\n\nSecond paragraph, because some thoughts need two.' : ''}`,
    )
}
console.log('seeded')
