/** Installing the client as an app: the browser offers it once, before anybody asks, so it is remembered from the start. iOS offers
 *  nothing: there people do it by hand, and get notifications only in what is on their home screen. */

interface InstallOffer extends Event {
    prompt(): Promise<unknown>
}

let offer = $state.raw<InstallOffer | null>(null)

export function listenForInstall(target: EventTarget): void {
    target.addEventListener('beforeinstallprompt', (event) => {
        event.preventDefault()
        offer = event as InstallOffer
    })
    target.addEventListener('appinstalled', () => (offer = null))
}

/** ask: the browser does it. byHand: somebody has to be told how. null: it is done, or cannot be. */
export function installWay(): 'ask' | 'byHand' | null {
    if (offer) return 'ask'
    return Reflect.get(navigator, 'standalone') === false ? 'byHand' : null
}

export async function install(): Promise<void> {
    const asked = offer
    // It can be asked once.
    offer = null
    await asked?.prompt()
}
