/** The pages besides conversations, each with what is there once it is drawn: for tests that look at all of them. */
import type { Locator, Page } from '@playwright/test'

export interface View {
    hash: string
    ready: (page: Page) => Locator
}

const titled = (hash: string, name: string): View => ({
    hash: `#${hash}`,
    ready: (page) => page.getByRole('main').getByRole('heading', { level: 1, name, exact: true }),
})

/** Its tab is the current one, and what belongs to it has a heading. */
const tabbed = (hash: string, heading: string): View => ({
    hash: `#${hash}`,
    ready: (page) =>
        page
            .getByRole('main')
            .filter({ has: page.locator(`a[aria-current="page"][href="#${hash}"]`) })
            .getByRole('heading', { level: 2, name: heading, exact: true }),
})

export const placeViews: View[] = [
    titled('inbox', 'Inbox'),
    titled('recent', 'Recent conversations'),
    titled('feed', 'Combined feed'),
    titled('drafts', 'Drafts'),
    titled('scheduled', 'Scheduled'),
]

export const settingsViews: View[] = [
    tabbed('settings/profile', 'Picture'),
    tabbed('settings/account', 'Password'),
    tabbed('settings/notifications', 'Alert words'),
    tabbed('settings/topics', 'Muted topics'),
    tabbed('settings/appearance', 'Look and feel'),
    tabbed('settings/privacy', 'Privacy'),
    tabbed('settings/files', 'Files'),
    tabbed('settings/devices', 'Where you’re signed in'),
    tabbed('organization/general', 'About'),
    tabbed('organization/messages', 'Editing and deleting'),
    tabbed('organization/joining', 'Domains'),
    tabbed('organization/defaults', 'Defaults for new people'),
    tabbed('organization/members', 'People'),
    tabbed('organization/invitations', 'Invite people'),
    tabbed('organization/groups', 'New group'),
    tabbed('organization/permissions', 'Permissions'),
    tabbed('organization/channels', 'Folders'),
    tabbed('organization/fields', 'New field'),
    tabbed('organization/bots', 'New bot'),
    tabbed('organization/emoji', 'Emoji'),
    tabbed('organization/linkifiers', 'Linkifiers'),
    tabbed('organization/directories', 'Directory tokens'),
    tabbed('organization/audit', 'Audit log'),
    titled('channels', 'Channels'),
    titled('channels/new', 'New channel'),
]

export const channelView = (id: number, name: string): View => titled(`channels/${id}`, name)
