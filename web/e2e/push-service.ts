/** A push service with one browser's subscription: takes what the worker posts, and reads it with the browser's keys (RFC 8291). */
import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Pushed {
    headers: IncomingHttpHeaders
    /** What a browser hands to the service worker. */
    data: string
}

export interface PushService {
    subscription: { endpoint: string; p256dh: string; auth: string }
    next: () => Promise<Pushed>
    stop: () => void
}

export async function startPushService(): Promise<PushService> {
    const key = createECDH('prime256v1')
    const point = key.generateKeys()
    const secret = randomBytes(16)
    const came: Pushed[] = []
    const waiting: ((pushed: Pushed) => void)[] = []

    function take(headers: IncomingHttpHeaders, body: Buffer): void {
        const pushed = { headers, data: opened(body) }
        const first = waiting.shift()
        if (first) first(pushed)
        else came.push(pushed)
    }

    /** One record: salt, its size, the sender's point, and what is sealed. */
    function opened(body: Buffer): string {
        const length = body.readUInt8(20)
        const [salt, sender] = [body.subarray(0, 16), body.subarray(21, 21 + length)]
        const sealed = body.subarray(21 + length)
        const shared = derived(key.computeSecret(sender), secret, [Buffer.from('WebPush: info\0'), point, sender], 32)
        const content = derived(shared, salt, [Buffer.from('Content-Encoding: aes128gcm\0')], 16)
        const nonce = derived(shared, salt, [Buffer.from('Content-Encoding: nonce\0')], 12)
        const cipher = createDecipheriv('aes-128-gcm', content, nonce).setAuthTag(sealed.subarray(-16))
        const plain = Buffer.concat([cipher.update(sealed.subarray(0, -16)), cipher.final()])
        return plain.subarray(0, plain.lastIndexOf(2)).toString()
    }

    const server = createServer((request, response) => {
        const parts: Buffer[] = []
        request.on('data', (part: Buffer) => parts.push(part))
        request.on('end', () => {
            take(request.headers, Buffer.concat(parts))
            response.writeHead(201).end()
        })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    return {
        subscription: {
            endpoint: `http://127.0.0.1:${port}/push/one`,
            p256dh: point.toString('base64url'),
            auth: secret.toString('base64url'),
        },
        next: () => {
            const pushed = came.shift()
            return pushed ? Promise.resolve(pushed) : new Promise((resolve) => waiting.push(resolve))
        },
        stop: () => server.close(),
    }
}

function derived(secret: Buffer, salt: Buffer, info: Buffer[], length: number): Buffer {
    return Buffer.from(hkdfSync('sha256', secret, salt, Buffer.concat(info), length))
}
