/** Exports of the organization, for those who may make one: asked for when somebody looks at them, then kept current by events. */
import { SvelteMap } from 'svelte/reactivity'
import type { Api, Answer } from './api'
import type { ApiEvent, ApiExport, Id } from './api-types'

interface Consents {
    export_consents: { user_id: Id; consented: boolean }[]
}

export class Exports {
    readonly #api: Api
    /** The newest first; null: nobody has looked yet. */
    all = $state.raw<readonly ApiExport[] | null>(null)
    /** Of active people: whether their private data may be in one. */
    readonly #consents = new SvelteMap<Id, boolean>()
    readonly consented = $derived([...this.#consents.values()].filter(Boolean).length)

    constructor(api: Api) {
        this.#api = api
    }

    get people(): number {
        return this.#consents.size
    }

    /** What was known is old: another queue has begun. */
    forget(): void {
        this.all = null
    }

    async load(): Promise<Answer<object>> {
        const [exports, consents] = await Promise.all([
            this.#api.get<{ exports: ApiExport[] }>('export/realm'),
            this.#api.get<Consents>('export/realm/consents'),
        ])
        if (consents.ok) {
            this.#consents.clear()
            for (const each of consents.value.export_consents) this.#consents.set(each.user_id, each.consented)
        }
        if (exports.ok) this.all = exports.value.exports.toReversed()
        return exports.ok ? consents : exports
    }

    apply(event: ApiEvent): void {
        if (event.type === 'realm_export' && this.all !== null) this.all = event.exports.toReversed()
        if (event.type === 'realm_export_consent') this.#consents.set(event.user_id, event.consented)
    }
}
