/** Requests to the server with the browser's session. Nothing throws: an answer is a value or says what went wrong.
 *
 *  Parameters go as a JSON object, which the server takes for every method but GET. A request that changes something carries
 *  the session's CSRF token; if another tab signed in anew, the token is fetched again and the request is made once more, unless it
 *  is somebody else who signed in: for us that is the end of the session. */
import type { Id, ServerSettings } from './api-types'

export interface ApiError {
    /** offline: nobody answered. signedOut: there is no session. busy: too many requests, or the server is not ready. */
    kind: 'refused' | 'offline' | 'signedOut' | 'busy' | 'broken'
    status: number
    code: string
    /** What the server says, for people. */
    msg: string
    /** Seconds until another try makes sense. */
    retryAfter?: number
    body: Record<string, unknown>
}

export type Answer<T> = { ok: true; value: T } | { ok: false; error: ApiError }
export type Params = Record<string, unknown>
export interface SignedIn {
    user_id: Id
    email: string
    csrf_token: string
    /** Of a second factor that was set up with this sign-in. */
    recovery_codes?: string[]
}
/** The session of an organization's first owner, and where they are greeted. */
export interface Begun extends SignedIn {
    channel_id: Id
    topic: string
}
/** What somebody with a second factor shows beside the password: one of them. */
export interface SecondStep {
    code?: string
    passkey?: object
}
type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
interface Options {
    headers?: Record<string, string>
    signal?: AbortSignal | undefined
}

export class Api {
    csrfToken = ''
    /** Whose requests these are. */
    #userId: Id | null = null
    /** Somebody to tell that the session is over. */
    onSignedOut: () => void = () => {}
    readonly #base: string
    readonly #fetch: typeof fetch

    constructor(base = '/api/v1/', fetcher: typeof fetch = (input, init) => globalThis.fetch(input, init)) {
        this.#base = base
        this.#fetch = fetcher
    }

    get<T>(path: string, params: Params = {}, options: Options = {}): Promise<Answer<T>> {
        return this.request<T>('GET', path, params, options)
    }

    post<T = object>(path: string, params: Params = {}, options: Options = {}): Promise<Answer<T>> {
        return this.request<T>('POST', path, params, options)
    }

    patch<T = object>(path: string, params: Params = {}, options: Options = {}): Promise<Answer<T>> {
        return this.request<T>('PATCH', path, params, options)
    }

    put<T = object>(path: string, params: Params = {}, options: Options = {}): Promise<Answer<T>> {
        return this.request<T>('PUT', path, params, options)
    }

    delete<T = object>(path: string, params: Params = {}, options: Options = {}): Promise<Answer<T>> {
        return this.request<T>('DELETE', path, params, options)
    }

    async request<T>(method: Method, path: string, params: Params, options: Options = {}): Promise<Answer<T>> {
        return this.#withSession(() => this.#once<T>(method, path, params, options))
    }

    async #withSession<T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
        let answer = await ask()
        if (!answer.ok && answer.error.code === 'CSRF_FAILED') {
            const renewed = await this.#renew()
            if (renewed.ok) answer = await ask()
            else if (renewed.error.kind === 'signedOut') answer = renewed
        }
        if (!answer.ok && answer.error.kind === 'signedOut' && this.csrfToken) this.onSignedOut()
        return answer
    }

    /** Nobody is signed in any more, whoever ended it. */
    forget(): void {
        this.csrfToken = ''
        this.#userId = null
    }

    /** The session's token again, if it is still the same person's. */
    async #renew(): Promise<Answer<SignedIn>> {
        const answer = await this.#once<SignedIn>('GET', 'sessions/current', {}, {})
        if (!answer.ok) return answer
        if (this.#userId !== null && answer.value.user_id !== this.#userId) {
            return failed({ kind: 'signedOut', status: 401, code: 'SOMEBODY_ELSE', msg: '', body: {} })
        }
        return this.#remember(answer)
    }

    async #once<T>(method: Method, path: string, params: Params, options: Options): Promise<Answer<T>> {
        const headers: Record<string, string> = { ...options.headers }
        const init: RequestInit = { method, headers, credentials: 'same-origin' }
        if (options.signal) init.signal = options.signal
        let address = this.#base + path
        if (method === 'GET') address += queryOf(params)
        else {
            headers['Content-Type'] = 'application/json'
            if (this.csrfToken) headers['X-CSRF-Token'] = this.csrfToken
            init.body = JSON.stringify(params)
        }
        let response: Response
        try {
            response = await this.#fetch(address, init)
        } catch (problem) {
            return failed(offline(problem))
        }
        return readAnswer<T>(response.status, await textOf(response), response.headers.get('Retry-After'))
    }

    /** Upload a file, with progress from 0 to 1; by XMLHttpRequest, because fetch does not tell progress. */
    upload<T>(path: string, file: Blob, name: string, progress: (part: number) => void, signal?: AbortSignal) {
        return this.#withSession(() => this.#uploadOnce<T>(path, file, name, progress, signal))
    }

    #uploadOnce<T>(path: string, file: Blob, name: string, progress: (part: number) => void, signal?: AbortSignal) {
        return new Promise<Answer<T>>((resolve) => {
            const request = new XMLHttpRequest()
            request.open('POST', this.#base + path)
            request.setRequestHeader('X-CSRF-Token', this.csrfToken)
            request.upload.addEventListener('progress', (event) => {
                if (event.lengthComputable) progress(event.loaded / event.total)
            })
            request.addEventListener('load', () => {
                resolve(readAnswer<T>(request.status, request.responseText, request.getResponseHeader('Retry-After')))
            })
            for (const end of ['error', 'abort', 'timeout']) {
                request.addEventListener(end, () => resolve(failed(offline(end))))
            }
            if (signal?.aborted) return resolve(failed(offline('abort')))
            signal?.addEventListener('abort', () => request.abort())
            const form = new FormData()
            form.append('filename', file, name)
            request.send(form)
        })
    }

    // The session

    /** Who is signed in at this browser, if anybody. */
    async resume(): Promise<Answer<SignedIn>> {
        return this.#remember(await this.#once<SignedIn>('GET', 'sessions/current', {}, {}))
    }

    /** Whose requests these are, before the server could be asked: another session than theirs is none. */
    belongTo(userId: Id): void {
        this.#userId = userId
    }

    async signIn(username: string, password: string, step: SecondStep = {}): Promise<Answer<SignedIn>> {
        const params = { username, password, ...step }
        return this.#remember(await this.#once<SignedIn>('POST', 'sessions', params, {}))
    }

    /** By a passkey alone; `passkey` is what the browser's authenticator has signed. */
    async signInByPasskey(passkey: object): Promise<Answer<SignedIn>> {
        return this.#remember(await this.#once<SignedIn>('POST', 'sessions/passkey', { passkey }, {}))
    }

    async signUp(key: string, fullName: string, password: string): Promise<Answer<SignedIn>> {
        const params = { full_name: fullName, password }
        return this.#remember(await this.#once<SignedIn>('POST', `signups/${encodeURIComponent(key)}`, params, {}))
    }

    /** The organization that waits for its owner, begun by the key of its link. */
    async begin(key: string, chosen: Params): Promise<Answer<Begun>> {
        const answer = await this.#once<Begun>('POST', 'beginnings', { key, ...chosen }, {})
        this.#remember(answer)
        return answer
    }

    async signOut(): Promise<Answer<object>> {
        const answer = await this.#once<object>('DELETE', 'sessions/current', {}, {})
        if (answer.ok) {
            this.forget()
        }
        return answer
    }

    serverSettings(): Promise<Answer<ServerSettings>> {
        return this.get<ServerSettings>('server_settings')
    }

    #remember(answer: Answer<SignedIn>): Answer<SignedIn> {
        if (answer.ok) {
            this.csrfToken = answer.value.csrf_token
            this.#userId = answer.value.user_id
        }
        return answer
    }
}

/** Lists and objects travel as JSON, text as it is. */
function queryOf(params: Params): string {
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(params)) {
        if (value !== undefined) query.set(name, typeof value === 'string' ? value : JSON.stringify(value))
    }
    const text = query.toString()
    return text && `?${text}`
}

async function textOf(response: Response): Promise<string> {
    try {
        return await response.text()
    } catch {
        return ''
    }
}

function readAnswer<T>(status: number, text: string, retryAfter: string | null): Answer<T> {
    let body: Record<string, unknown>
    try {
        body = JSON.parse(text) as Record<string, unknown>
    } catch {
        // Cut off on the way, or a proxy that answers for a server which is away.
        const kind = status >= 500 || status === 200 ? 'offline' : 'broken'
        return failed({ kind, status, code: '', msg: '', body: {} })
    }
    if (status < 400 && body['result'] === 'success') return { ok: true, value: body as T }
    const error: ApiError = {
        kind: kindOf(status),
        status,
        code: String(body['code'] ?? ''),
        msg: String(body['msg'] ?? ''),
        body,
    }
    const seconds = Number(retryAfter ?? body['retry-after'])
    if (seconds > 0) error.retryAfter = seconds
    return failed(error)
}

function kindOf(status: number): ApiError['kind'] {
    if (status === 401) return 'signedOut'
    if (status === 429 || status === 503) return 'busy'
    return status >= 500 ? 'broken' : 'refused'
}

function offline(problem: unknown): ApiError {
    const code = problem instanceof DOMException && problem.name === 'AbortError' ? 'ABORTED' : ''
    return { kind: 'offline', status: 0, code, msg: '', body: {} }
}

function failed<T>(error: ApiError): Answer<T> {
    return { ok: false, error }
}
