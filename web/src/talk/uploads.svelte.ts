/** Files on their way to the server, each with its progress, until their link stands in the text. */
import type { World } from '../data/world.svelte'
import { t } from '../words/words.svelte'
import { explain } from '../page/explain'
import { isSame, type Home } from './written.svelte'

export class Upload {
    readonly name: string
    part = $state(0)
    error = $state('')
    /** Where its link goes. */
    home: Home
    readonly #stop = new AbortController()

    constructor(name: string, home: Home) {
        this.name = name
        this.home = home
    }

    get signal(): AbortSignal {
        return this.#stop.signal
    }

    cancel(): void {
        this.#stop.abort()
    }
}

export class Uploads {
    all: readonly Upload[] = $state.raw([])
    readonly #world: World

    constructor(world: World) {
        this.#world = world
    }

    /** Upload, and hand the link over to be put into the text. */
    async add(file: File, home: Home, insert: (link: string, home: Home) => void): Promise<void> {
        const upload = new Upload(file.name || t('upload.unnamed'), home)
        this.all = [...this.all, upload]
        const most = this.#world.realm.value('max_file_upload_size_mib', 25)
        if (file.size > most * 1024 * 1024) {
            upload.error = t('upload.large', { name: upload.name, n: most })
            return
        }
        const answer = await this.#world.api.upload<{ url?: string; uri?: string; filename?: string }>(
            'user_uploads',
            file,
            upload.name,
            (part) => (upload.part = part),
            upload.signal,
        )
        if (answer.ok) {
            const { filename, url, uri } = answer.value
            insert(`[${filename ?? upload.name}](${url ?? uri ?? ''})`, upload.home)
            this.dismiss(upload)
        } else if (upload.signal.aborted) this.dismiss(upload)
        else upload.error = answer.error.status === 404 ? t('upload.none') : explain(answer.error)
    }

    dismiss(upload: Upload): void {
        upload.cancel()
        this.all = this.all.filter((each) => each !== upload)
    }

    /** Whether something is still on its way into the text that is kept there. */
    isBusy(home: Home): boolean {
        return this.all.some((each) => !each.error && isSame(each.home, home))
    }

    /** The text went elsewhere: its files go along. */
    follow(from: Home, to: Home): void {
        for (const each of this.all) if (isSame(each.home, from)) each.home = to
    }
}
