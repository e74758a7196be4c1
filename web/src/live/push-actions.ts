/** What the palette and the settings offer of Web Push, and what is said of how it went. */
import type { World } from '../data/world.svelte'
import type { Action } from '../places/offers'
import { say, sayError } from '../ui/toasts.svelte'
import { t } from '../words/words.svelte'
import { turnOffPush, turnOnPush, type PushState } from './push'

export function pushActions(world: World): Action[] {
    return [
        { word: 'push.on', run: () => void turnOnPush(world.api).then((state) => tell(state, 'on'), failed) },
        { word: 'push.off', run: () => void turnOffPush(world.api).then((state) => tell(state, 'off'), failed) },
    ]
}

function tell(state: PushState, wanted: PushState): void {
    if (state === 'impossible') sayError(t('push.impossible'))
    else if (wanted === 'off') say(t('push.is.off'))
    else if (state === 'on') say(t('push.is.on'))
    else sayError(t(state === 'refused' ? 'push.refused' : 'push.failed'))
}

/** The browser's push service may be away. */
function failed(): void {
    sayError(t('push.failed'))
}
