/** Everything that takes away for good or gives rights is in one of two lists: what is asked about, and what needs no question. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ask, asked } from './asking.svelte'

const SOURCE = new URL('../', import.meta.url)
/** A call that deletes, ends, renews a key or sets a role. */
const ACT =
    /api\s*\.(?:delete(?:<[^>]*>)?\(|patch\([^)]*\brole\b|(?:post|patch)(?:<[^>]*>)?\([^)]*(?:\/deactivate|\/erase\b|regenerate|delete_topic))/g

/** Asked by `ask`, or by a Dialog with a field in it. */
const ASKED: Record<string, number> = {
    'data/acts.ts messages': 1,
    'data/scheduled.svelte.ts': 1,
    'page/delete-topic.ts': 1,
    'page/leave-channel.ts': 1,
    'settings/Account.svelte': 1,
    'settings/Devices.svelte': 1,
    'settings/Files.svelte': 1,
    'settings/OwnData.svelte': 1,
    'settings/Passkeys.svelte': 1,
    'settings/channels/ChannelMail.svelte': 1,
    'settings/channels/ChannelPage.svelte': 1,
    'settings/organization/Bots.svelte': 2,
    'settings/organization/Domains.svelte': 1,
    'settings/organization/Emoji.svelte': 1,
    'settings/organization/Erase.svelte': 1,
    'settings/organization/Exports.svelte': 1,
    'settings/organization/Fields.svelte': 1,
    'settings/organization/GroupDetails.svelte': 1,
    'settings/organization/Holds.svelte': 1,
    'settings/organization/Invitations.svelte': 1,
    'settings/organization/Linkifiers.svelte': 1,
    'settings/organization/Members.svelte': 2,
    'settings/organization/Playgrounds.svelte': 1,
    'settings/organization/ScimTokens.svelte': 1,
}
/** Whoever did it does it back in the same place. */
const NOT_ASKED: Record<string, [number, string]> = {
    'data/acts.ts reactions': [1, 'one more click reacts again'],
    'data/acts.ts previews': [1, 'the link itself stays, and leads to the same page'],
    'data/drafts.svelte.ts': [1, 'Drafts offers Undo'],
    'data/pins.svelte.ts': [1, 'pinned again from the menu of the message'],
    'notifications/push.ts': [1, 'the switch turns it on again'],
    'page/remind.ts': [1, 'the Undo of what was just done; and the message is still there to be reminded of'],
    'settings/AlertWords.svelte': [1, 'the word is typed again'],
    'settings/Devices.svelte new key': [1, 'makes a key beside the others'],
    'settings/MutedPeople.svelte': [1, 'muted again from their card'],
    'settings/Profile.svelte': [1, 'the person has the picture, and uploads it again'],
    'settings/SecondFactor.svelte': [1, 'a dialog asks for a code of it first'],
    'settings/channels/Subscribers.svelte': [1, 'whoever may remove others may add them'],
    'settings/organization/General.svelte': [1, 'the picture is uploaded again'],
    'settings/organization/DefaultChannels.svelte': [1, 'added again below the list'],
    'talk/Snippets.svelte': [1, 'a toast offers Undo'],
    'talk/PersonCard.svelte': [1, 'the same button mutes them again'],
}

function sources(folder: URL): string[] {
    return readdirSync(folder, { withFileTypes: true }).flatMap((each) =>
        each.isDirectory()
            ? sources(new URL(`${each.name}/`, folder)).map((name) => `${each.name}/${name}`)
            : /\.(svelte|ts)$/.test(each.name) && !each.name.endsWith('.test.ts')
              ? [each.name]
              : [],
    )
}

describe('what cannot be taken back', () => {
    const found: Record<string, number> = {}
    for (const name of sources(SOURCE)) {
        const acts = readFileSync(new URL(name, SOURCE), 'utf8').match(ACT)?.length ?? 0
        if (acts) found[name] = acts
    }

    it('is in the list of what is asked about, or says why it is not', () => {
        const listed: Record<string, number> = {}
        const add = (line: string, acts: number) => {
            const name = line.split(' ')[0] ?? ''
            listed[name] = (listed[name] ?? 0) + acts
        }
        for (const [line, acts] of Object.entries(ASKED)) add(line, acts)
        for (const [line, [acts]] of Object.entries(NOT_ASKED)) add(line, acts)
        expect(found).toEqual(listed)
    })

    it('is asked about by ask, or by a Dialog', () => {
        const without = Object.keys(ASKED)
            .map((line) => line.split(' ')[0] ?? '')
            .filter((name) => !name.startsWith('data/'))
            .filter((name) => !/await ask\(|<Dialog/.test(readFileSync(new URL(name, SOURCE), 'utf8')))
        expect(without).toEqual([])
    })
})

describe('a question', () => {
    const question = { title: 'Leave?', text: 'For good.', confirm: 'Leave' }

    it('is answered once, and is gone then', async () => {
        const answer = ask(question)
        expect(asked()?.title).toBe('Leave?')
        asked()?.answer(true)
        expect([await answer, asked()]).toEqual([true, null])
    })

    it('that another one replaces is answered with no', async () => {
        const first = ask(question)
        const second = ask({ ...question, title: 'Stay?' })
        expect([await first, asked()?.title]).toEqual([false, 'Stay?'])
        asked()?.answer(false)
        expect(await second).toBe(false)
    })
})
