import { afterEach, expect, it, vi } from 'vitest'
import { FakeServer, settled } from './testing'

/** An XMLHttpRequest that is answered by the test. */
class Upload extends EventTarget {
    static all: Upload[] = []
    readonly upload = new EventTarget()
    readonly headers: Record<string, string> = {}
    status = 0
    responseText = ''
    open(): void {}
    setRequestHeader(name: string, value: string): void {
        this.headers[name] = value
    }
    getResponseHeader(): null {
        return null
    }
    send(): void {
        Upload.all.push(this)
    }
    answer(status: number, body: Record<string, unknown>): void {
        this.status = status
        this.responseText = JSON.stringify({ result: status < 400 ? 'success' : 'error', msg: '', ...body })
        this.dispatchEvent(new Event('load'))
    }
}

afterEach(() => {
    Upload.all = []
    vi.unstubAllGlobals()
})

it('uploads once more with the new token when the session has another', async () => {
    vi.stubGlobal('XMLHttpRequest', Upload)
    const { api, next } = serverOf('old')
    const done = api.upload<{ url: string }>('user_uploads', new Blob(['x']), 'x.txt', () => {})
    Upload.all[0]?.answer(403, { code: 'CSRF_FAILED' })
    ;(await next('sessions/current')).answer({ user_id: 2, csrf_token: 'new', email: '' })
    await settled()
    expect(Upload.all.map((each) => each.headers['X-CSRF-Token'])).toEqual(['old', 'new'])
    Upload.all[1]?.answer(200, { url: '/x.txt' })
    expect(await done).toMatchObject({ ok: true, value: { url: '/x.txt' } })
})

function serverOf(token: string) {
    const server = new FakeServer()
    server.api.csrfToken = token
    return { api: server.api, next: (path: string) => server.next(path) }
}
