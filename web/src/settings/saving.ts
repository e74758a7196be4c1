/** Every change in the settings is saved at once; the server's answer is shown on the page. */
import type { Answer } from '../data/api'
import { say, sayError } from '../ui/toasts.svelte'
import { t } from '../words/words.svelte'
import { explain } from '../page/explain'

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

/** An answer whose refusal is shown beside a field: only that it was taken is said. */
export function told<T extends object>(answer: Answer<T>, done = t('settings.saved')): Answer<T> {
    if (answer.ok) say(done)
    return answer
}
