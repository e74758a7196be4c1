/** What the menu of the organization offers on wide screens, and "You" on narrow ones, where no side bar has the rest. */
import AtSign from '@lucide/svelte/icons/at-sign'
import Bell from '@lucide/svelte/icons/bell-ring'
import Building from '@lucide/svelte/icons/building-2'
import CalendarClock from '@lucide/svelte/icons/calendar-clock'
import Clock from '@lucide/svelte/icons/clock'
import Hash from '@lucide/svelte/icons/hash'
import Keyboard from '@lucide/svelte/icons/keyboard'
import LogOut from '@lucide/svelte/icons/log-out'
import Monitor from '@lucide/svelte/icons/monitor'
import Moon from '@lucide/svelte/icons/moon'
import MessagesSquare from '@lucide/svelte/icons/messages-square'
import Pencil from '@lucide/svelte/icons/pencil-line'
import Smile from '@lucide/svelte/icons/smile-plus'
import Star from '@lucide/svelte/icons/star'
import Sun from '@lucide/svelte/icons/sun'
import UserPlus from '@lucide/svelte/icons/user-plus'
import UserCog from '@lucide/svelte/icons/user-cog'
import type { Place } from '../data/place'
import type { Session } from '../data/session.svelte'
import type { World } from '../data/world.svelte'
import { mayInvite } from '../page/inviting'
import { go } from '../page/route.svelte'
import { signOut } from '../page/sign-out'
import { chooseTheme, THEMES } from '../places/keys'
import type { MenuItem } from '../ui/Menu.svelte'
import { t, type Word } from '../words/words.svelte'

type Items = (MenuItem | 'line')[]

const THEME_ICONS = { 1: Monitor, 2: Moon, 3: Sun }

export const organizationMenu = (world: World, session: Session, showKeys: () => void): Items => [
    ...settingsItems(world),
    { text: t('places.keys'), icon: Keyboard, keys: '?', run: showKeys },
    'line',
    signOutItem(session),
]

export const ownMenu = (world: World, session: Session): Items => [
    to({ kind: 'settings', rest: ['profile'] }, 'places.me', Smile),
    to({ kind: 'recent' }, 'places.recent', Clock),
    to({ kind: 'feed' }, 'places.feed', MessagesSquare),
    to({ kind: 'mentioned' }, 'places.mentions', AtSign),
    to({ kind: 'starred' }, 'places.starred', Star),
    to({ kind: 'drafts' }, 'places.drafts', Pencil),
    to({ kind: 'scheduled' }, 'places.scheduled', CalendarClock),
    to({ kind: 'scheduled' }, 'places.reminders', Bell),
    'line',
    ...settingsItems(world),
    'line',
    ...THEMES.map(({ word, scheme }) => ({
        text: t(word),
        icon: THEME_ICONS[scheme],
        checked: world.realm.settings.color_scheme === scheme,
        run: () => void chooseTheme(world, scheme),
    })),
    'line',
    signOutItem(session),
]

const settingsItems = (world: World): MenuItem[] => [
    ...(mayInvite(world) ? [to({ kind: 'organization', rest: ['invitations'] }, 'invite.mail', UserPlus)] : []),
    to({ kind: 'settings', rest: [] }, 'places.settings', UserCog),
    to({ kind: 'organization', rest: [] }, 'places.organization', Building),
    to({ kind: 'channels', rest: [] }, 'places.channels.browse', Hash),
]

const signOutItem = (session: Session): MenuItem => ({
    text: t('places.signout'),
    icon: LogOut,
    run: () => void signOut(session),
})

function to(place: Place, word: Word, icon: NonNullable<MenuItem['icon']>): MenuItem {
    return { text: t(word), icon, run: () => go(place) }
}
