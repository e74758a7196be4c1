/** Every change in the settings is saved at once; the server's answer is shown on the page: a refusal in its own words. */
import type { Answer } from '../data/api'
import { explain } from '../talk/actions.svelte'
import { say, sayError } from '../ui/toasts.svelte'
import { t } from '../words/words.svelte'

/** Whether it was taken. `done` is said then; nothing is, where the page itself shows it. */
export async function save(
    asked: Promise<Answer<object>>,
    done: string | null = t('settings.saved'),
): Promise<boolean> {
    const answer = await asked
    if (!answer.ok) sayError(explain(answer.error))
    else if (done) say(done)
    return answer.ok
}
