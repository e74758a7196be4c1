/** Errors of the server in the reader's language: what happened and what to do, and the field it is about (pure but for the language).
 *
 *  Most refusals have no code of their own, so they are known by what they say; whatever is not known here is shown as the server
 *  says it, which writes for people. Named groups of a pattern are the names in the word. */
import type { Answer, ApiError } from '../data/api'
import { t, type Word } from '../words/words.svelte'

const KNOWN: readonly (readonly [pattern: RegExp, word: Word, field?: string])[] = [
    [/^Wrong password/, 'refused.password.wrong', 'old_password'],
    [/^This needs a login of the last minutes/, 'again.login'],
    [/^The password is too weak/, 'refused.password.weak', 'new_password'],
    [/^A password has (?<least>\d+) to (?<most>\d+)/, 'refused.password.length', 'new_password'],
    [/^Your password is kept in the directory/, 'refused.password.directory', 'old_password'],
    [/^(Enter a valid email address|That is not an email address)/, 'refused.email', 'email'],
    [/^Email is already in use/, 'refused.email.taken', 'email'],
    [/^Email address changes are disabled/, 'refused.email.disabled', 'email'],
    [/^Your email address comes from/, 'refused.email.directory', 'email'],
    [/^Invalid characters in the name/, 'refused.characters', 'full_name'],
    [/^(Unique names required|Name is already in use)/, 'refused.name.taken', 'full_name'],
    [/already exists\.?$|of this name already|has this name already|named '.*' already/, 'refused.taken', 'name'],
    [/needs a name\.?$|Label cannot be blank|A name can't be empty/, 'refused.name.missing', 'name'],
    [/too long \(limit: (?<most>\d+) characters\)/, 'refused.long'],
    [/^Bad name or username/, 'refused.short', 'short_name'],
    [/^payload_url is not/, 'refused.url', 'payload_url'],
    [/^jitsi_server_url is not the address/, 'refused.calls', 'url'],
    [/ is not a URL\.?$/, 'refused.url'],
    [/ is not a date$/, 'refused.date'],
    [/^An emoji's name has/, 'refused.emoji', 'name'],
    [/^Bad regular expression: (?<why>.*)/, 'refused.pattern', 'pattern'],
    [/^Invalid URL template/, 'refused.template', 'url_template'],
    [/^The group '(?<name>.*)' of the pattern is not in/, 'refused.template.missing', 'url_template'],
    [/^The URL template uses '(?<name>.*)', which/, 'refused.template.unknown', 'url_template'],
    [/^The URL template has one variable, "code"/, 'refused.template.code', 'url_template'],
    [/^Invalid characters in pygments language/, 'refused.language', 'pygments_language'],
    [/^There is a playground of this name for this language/, 'refused.taken', 'name'],
    [/^Invalid domain/, 'refused.domain', 'domain'],
    [/^The domain .* is already a part/, 'refused.domain.taken', 'domain'],
    [/^The URL pattern of an external account/, 'refused.account', 'url_pattern'],
    [/^Field must have at least one choice/, 'refused.choices.none', 'choices'],
    [/^Field must not have duplicate choices/, 'refused.choices.twice', 'choices'],
    [/^Only (?<n>\d+) fields can be displayed/, 'refused.summary'],
    [/^There are channels in this folder/, 'refused.folder'],
    [/^A default channel can't be private/, 'refused.default'],
    [/^All messages of the channel have to be in the topic (?<topic>.*) first/, 'refused.topics'],
    [/^Where the history is protected, everybody may open topics/, 'refused.protected'],
    [/^Invalid narrow operator: unknown user (?<name>.*)/, 'refused.search.person'],
    [/^'old' value does not match/, 'refused.meanwhile'],
    [/only organization owner/, 'refused.lastowner'],
    [/^(Insufficient permission|Must be an organization (administrator|owner))/, 'refused.rights'],
]

const CODES: Readonly<Record<string, Word>> = {
    AUTHENTICATION_FAILED: 'signin.wrong',
    SECOND_FACTOR_FAILED: 'factor.wrong',
    PASSKEY_FAILED: 'passkey.wrong',
    INVITATION_INVALID: 'join.bad',
    USER_DEACTIVATED: 'signin.deactivated',
    NO_MAIL: 'error.nomail',
}

/** An error as people read it. */
export function explain(error: ApiError): string {
    if (error.kind === 'offline') return t('error.offline')
    if (error.status === 429) return t('error.limited', { n: Math.ceil(error.retryAfter ?? 60) })
    if (error.kind === 'busy') return t('error.busy', { n: Math.ceil(error.retryAfter ?? 10) })
    const code = CODES[error.code]
    return refusal(error)?.text ?? (code ? t(code) : error.msg || t('error.broken'))
}

/** The error beside the field it is about: the first of `fields` if it is about none of them. Nothing, if it was taken. */
export function problemsIn<Name extends string>(
    answer: Answer<object>,
    ...fields: readonly [Name, ...Name[]]
): { [name in Name]?: string } {
    if (answer.ok) return {}
    const field = refusal(answer.error)?.field
    const at = fields.find((name) => name === field) ?? fields[0]
    return { [at]: explain(answer.error) } as { [name in Name]?: string }
}

function refusal(error: ApiError): { text: string; field: string | undefined } | null {
    if (error.kind !== 'refused') return null
    for (const [pattern, word, field] of KNOWN) {
        const match = pattern.exec(error.msg)
        if (match) return { text: t(word, match.groups), field }
    }
    return null
}
