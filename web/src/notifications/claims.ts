/** Several tabs hear of the same message: one of them announces it, and none does while somebody looks at it in one. */
import type { Id } from '../data/api-types'

/** No tab hears of a message later than this after another. */
const CLAIM_MS = 10_000
/** Tabs that are not looked at let the one that is go first. */
const POLITE_MS = 200

/** Whether this tab is the one to announce it. `isLookedAt`: it is on the screen here, so no tab is. */
export async function mayAnnounce(id: Id, isLookedAt: boolean): Promise<boolean> {
    if (!document.hasFocus()) await new Promise((done) => setTimeout(done, POLITE_MS))
    return (await claim(id)) && !isLookedAt
}

async function claim(id: Id): Promise<boolean> {
    if (!('locks' in navigator)) return true
    return new Promise((resolve) => {
        void navigator.locks.request(`tertulia:announce:${id}`, { ifAvailable: true }, async (lock) => {
            resolve(lock !== null)
            if (lock) await new Promise((done) => setTimeout(done, CLAIM_MS))
        })
    })
}
