/** What went wrong at the front door, for people. */
import type { ApiError } from '../data/api'
import { t } from '../words/words.svelte'

export function explain(problem: ApiError): string {
    if (problem.kind === 'offline') return t('signin.unreachable')
    if (problem.status === 429) return t('signin.limited', { n: Math.ceil(problem.retryAfter ?? 60) })
    if (problem.code === 'USER_DEACTIVATED') return t('signin.deactivated')
    if (problem.code === 'AUTHENTICATION_FAILED') return t('signin.wrong')
    if (problem.code === 'INVITATION_INVALID') return t('join.bad')
    return problem.msg || t('signin.unreachable')
}
