/** Which settings the parts of a page show and change: my own, or on the page of defaults those that new people begin with. */
import { getContext, setContext } from 'svelte'
import type { ApiUserSettings, SettingValue } from '../data/api-types'
import type { World } from '../data/world.svelte'
import { save } from './saving'

/** What both have: where somebody lives is their own. */
export type Settings = Omit<ApiUserSettings, 'timezone'>
export interface EditedSettings {
    readonly now: Settings
    readonly isMine: boolean
    /** Whether it was taken. */
    set(changes: Partial<Record<keyof Settings, SettingValue>>): Promise<boolean>
}

const KEY = Symbol('edited settings')

/** What the page that a component belongs to edits. */
export const editedSettings = (world: World): EditedSettings => getContext<EditedSettings>(KEY) ?? own(world)

/** Everything below the component that calls this edits the defaults. */
export function editDefaults(world: World): void {
    setContext<EditedSettings>(KEY, {
        get now() {
            return world.realm.value('realm_user_settings_defaults', world.realm.settings)
        },
        isMine: false,
        set: (changes) => save(world.api.patch('realm/user_settings_defaults', changes), null),
    })
}

function own(world: World): EditedSettings {
    return {
        get now() {
            return world.realm.settings
        },
        isMine: true,
        set: (changes) => save(world.api.patch('settings', changes), null),
    }
}
