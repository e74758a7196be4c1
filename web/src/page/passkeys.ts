/** Passkeys as the browser has them: what the server says and wants is JSON with base64url, the browser's own are bytes. */

import type { ApiError } from '../data/api'

interface Described {
    id: string
    type: 'public-key'
    transports: string[]
}
export interface CreationOptions {
    rp: { id: string; name: string }
    user: { id: string; name: string; displayName: string }
    challenge: string
    pubKeyCredParams: { type: 'public-key'; alg: number }[]
    timeout: number
    excludeCredentials: Described[]
    authenticatorSelection: { residentKey: 'preferred'; userVerification: 'preferred' }
    attestation: 'none'
}
export interface RequestOptions {
    challenge: string
    timeout: number
    rpId: string
    allowCredentials: Described[]
    userVerification: 'required' | 'preferred'
}

/** Whether there can be passkeys on this page at all. */
export function hasPasskeys(): boolean {
    return typeof PublicKeyCredential !== 'undefined' && window.isSecureContext
}

/** What passkeys are asked with, in a refusal that offers it. */
export function offeredIn({ body }: ApiError): RequestOptions | null {
    const methods = body['methods']
    const isOffered = Array.isArray(methods) && methods.includes('passkey') && hasPasskeys()
    return isOffered ? (body['passkey'] as RequestOptions) : null
}

/** cancelled: the person closed the browser's window, or took too long. known: this device has one for the account already. */
export type PasskeyProblem = 'cancelled' | 'known' | 'impossible'
type Outcome = { ok: true; passkey: object } | { ok: false; problem: PasskeyProblem }

/** Let the browser make a passkey. */
export async function makePasskey(options: CreationOptions): Promise<Outcome> {
    return attempt(async () => {
        const made = (await navigator.credentials.create({
            publicKey: {
                ...options,
                challenge: bytesOf(options.challenge),
                user: { ...options.user, id: bytesOf(options.user.id) },
                excludeCredentials: options.excludeCredentials.map(descriptor),
            },
        })) as PublicKeyCredential
        const response = made.response as AuthenticatorAttestationResponse
        return {
            ...named(made),
            response: {
                clientDataJSON: textOf(response.clientDataJSON),
                attestationObject: textOf(response.attestationObject),
                transports: response.getTransports?.() ?? [],
            },
        }
    })
}

/** Let the browser ask for a passkey. */
export async function usePasskey(options: RequestOptions): Promise<Outcome> {
    return attempt(async () => {
        const used = (await navigator.credentials.get({
            publicKey: {
                ...options,
                challenge: bytesOf(options.challenge),
                allowCredentials: options.allowCredentials.map(descriptor),
            },
        })) as PublicKeyCredential
        const response = used.response as AuthenticatorAssertionResponse
        return {
            ...named(used),
            response: {
                clientDataJSON: textOf(response.clientDataJSON),
                authenticatorData: textOf(response.authenticatorData),
                signature: textOf(response.signature),
                userHandle: response.userHandle ? textOf(response.userHandle) : null,
            },
        }
    })
}

async function attempt(work: () => Promise<object>): Promise<Outcome> {
    try {
        return { ok: true, passkey: await work() }
    } catch (error) {
        const name = error instanceof DOMException ? error.name : ''
        if (name === 'InvalidStateError') return { ok: false, problem: 'known' }
        if (name === 'NotAllowedError' || name === 'AbortError') return { ok: false, problem: 'cancelled' }
        return { ok: false, problem: 'impossible' }
    }
}

const named = (credential: PublicKeyCredential) => ({
    id: credential.id,
    rawId: textOf(credential.rawId),
    type: credential.type,
})

const descriptor = ({ id, type, transports }: Described): PublicKeyCredentialDescriptor => ({
    id: bytesOf(id),
    type,
    transports: transports as AuthenticatorTransport[],
})

export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
    const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(plain, (letter) => letter.charCodeAt(0))
}

export function textOf(bytes: ArrayBuffer): string {
    const plain = String.fromCharCode(...new Uint8Array(bytes))
    return btoa(plain).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
