/** The files that I have uploaded: asked for when somebody looks at them, then kept current by events. */
import type { Answer, Api } from './api'
import type { ApiEvent, ApiFile } from './api-types'

interface FilesAnswer {
    attachments: ApiFile[]
    upload_space_used: number
}

export class Files {
    readonly #api: Api
    /** The newest first; null: nobody has looked yet. */
    all = $state.raw<readonly ApiFile[] | null>(null)
    /** Bytes of the whole organization. */
    used = $state(0)
    readonly mine = $derived((this.all ?? []).reduce((sum, file) => sum + file.size, 0))

    constructor(api: Api) {
        this.#api = api
    }

    /** What was known is old: another queue has begun. */
    forget(): void {
        this.all = null
    }

    async load(): Promise<Answer<object>> {
        const answer = await this.#api.get<FilesAnswer>('attachments')
        if (answer.ok) {
            this.all = answer.value.attachments.toReversed()
            this.used = answer.value.upload_space_used
        }
        return answer
    }

    apply(event: ApiEvent): void {
        if (event.type !== 'attachment' || this.all === null) return
        const { attachment } = event
        this.used = event.upload_space_used
        const place = this.all.findIndex((file) => file.id === attachment.id)
        if (event.op === 'remove') this.all = this.all.filter((file) => file.id !== attachment.id)
        else if (!isWhole(attachment)) return
        else if (place < 0) this.all = [attachment, ...this.all]
        else this.all = this.all.with(place, attachment)
    }
}

const isWhole = (file: Partial<ApiFile>): file is ApiFile => file.name !== undefined
