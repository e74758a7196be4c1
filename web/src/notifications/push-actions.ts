/** What the palette and the settings offer of Web Push, and what is said of how it went. */
import type { World } from '../data/world.svelte'
import { explain } from '../page/explain'
import { say, sayError } from '../ui/toasts.svelte'
import { t, type Word } from '../words/words.svelte'
import { pushState, tryPush, turnOffPush, turnOnPush, type PushState } from './push'

export function pushActions(world: World): { word: Word; run: () => void }[] {
    return [
        { word: 'push.on', run: () => void setPush(world, true) },
        { word: 'push.off', run: () => void setPush(world, false) },
    ]
}

/** How it is afterwards. */
export async function setPush(world: World, isOn: boolean): Promise<PushState> {
    try {
        const state = await (isOn ? turnOnPush(world.api) : turnOffPush(world.api))
        tell(state, isOn ? 'on' : 'off')
        return state
    } catch {
        // The browser's push service may be away.
        sayError(t('push.failed'))
        return pushState()
    }
}

/** A push to this browser, to see that it arrives. */
export async function testPush(world: World): Promise<void> {
    const answer = await tryPush(world.api)
    if (answer.ok) say(t('push.test.sent'))
    else sayError(answer.error.code === 'PUSH_NOT_TAKEN' ? t('push.test.failed') : explain(answer.error))
}

function tell(state: PushState, wanted: PushState): void {
    if (state === 'impossible') sayError(t('push.impossible'))
    else if (wanted === 'off') say(t('push.is.off'))
    else if (state === 'on') say(t('push.is.on'))
    else sayError(t(state === 'refused' ? 'push.refused' : 'push.failed'))
}
