/** Signing out, or why it did not work: whoever leaves a shared computer must know. */
import type { Session } from '../data/session.svelte'
import { sayError } from '../ui/toasts.svelte'
import { explain } from './explain'

export async function signOut(session: Session): Promise<void> {
    const answer = await session.signOut()
    if (!answer.ok && answer.error.kind !== 'signedOut') sayError(explain(answer.error))
}
