/** A server for tests of the data layer: answers from a function, when the test says so. */
import { Api } from './api'
import type { ApiMessage, EventOf } from './api-types'

export interface Request {
    method: string
    path: string
    params: Record<string, unknown>
    headers: Record<string, string>
    answer(body: Record<string, unknown>, status?: number): void
    fail(): void
}

/** Requests wait in `open` until they are answered; `auto` answers those it knows at once. */
export class FakeServer {
    readonly open: Request[] = []
    readonly all: Request[] = []
    auto: (request: Request) => Record<string, unknown> | null = () => null
    readonly api: Api

    constructor() {
        this.api = new Api('http://chat.example.com/api/v1/', (input, init) => this.#take(String(input), init ?? {}))
    }

    #take(address: string, init: RequestInit): Promise<Response> {
        return new Promise((resolve, reject) => {
            const url = new URL(address)
            const query = [...url.searchParams].map(([name, text]) => [name, decoded(text)])
            const request: Request = {
                method: init.method ?? 'GET',
                path: url.pathname.replace('/api/v1/', ''),
                params: init.body ? JSON.parse(init.body as string) : Object.fromEntries(query),
                headers: init.headers as Record<string, string>,
                answer: (body, status = 200) => {
                    this.#close(request)
                    const result = status < 400 ? 'success' : 'error'
                    resolve(new Response(JSON.stringify({ result, msg: '', ...body }), { status }))
                },
                fail: () => {
                    this.#close(request)
                    reject(new TypeError('nobody answers'))
                },
            }
            init.signal?.addEventListener('abort', () => {
                this.#close(request)
                reject(new DOMException('aborted', 'AbortError'))
            })
            this.all.push(request)
            const known = this.auto(request)
            if (known) request.answer(known)
            else this.open.push(request)
        })
    }

    #close(request: Request): void {
        const at = this.open.indexOf(request)
        if (at >= 0) this.open.splice(at, 1)
    }

    /** The request that waits, once there is one. */
    async next(path: string): Promise<Request> {
        for (let turn = 0; turn < 50; turn += 1) {
            const found = this.open.find((request) => request.path === path)
            if (found) return found
            // oxlint-disable-next-line no-await-in-loop -- turn after turn
            await settled()
        }
        throw new Error(`nobody asked for ${path}`)
    }
}

/** Let promises that can go on go on. */
export async function settled(): Promise<void> {
    for (let turn = 0; turn < 20; turn += 1) {
        // oxlint-disable-next-line no-await-in-loop -- turn after turn
        await Promise.resolve()
    }
}

function decoded(text: string): unknown {
    try {
        return JSON.parse(text)
    } catch {
        return text
    }
}

export function channelMessage(
    id: number,
    more: Partial<Omit<ApiMessage, 'type'>> & { stream_id?: number } = {},
): ApiMessage {
    return {
        id,
        type: 'stream',
        stream_id: 1,
        display_recipient: 'general',
        subject: 'lunch',
        sender_id: 5,
        sender_full_name: 'Kofi',
        sender_email: 'kofi@example.com',
        avatar_url: null,
        client: 'web',
        content: `<p>${id}</p>`,
        timestamp: 1700000000 + id,
        is_me_message: false,
        reactions: [],
        submessages: [],
        flags: [],
        ...more,
    } as ApiMessage
}

/** What an edit or a move says: what it always says, and what a test says besides. */
export function update(
    about: Partial<EventOf<'update_message'>> & { message_ids: number[] },
): EventOf<'update_message'> {
    return {
        id: 1,
        type: 'update_message',
        user_id: 5,
        rendering_only: false,
        message_id: about.message_ids[0] ?? 0,
        flags: [],
        edit_timestamp: 9,
        ...about,
    }
}

/** A message has come. */
export function arrived(id: number, message: ApiMessage, more: Partial<EventOf<'message'>> = {}): EventOf<'message'> {
    return { id, type: 'message', message, flags: message.flags, ...more }
}
