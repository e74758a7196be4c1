/** Files on their way to the server, each with its progress, until their link stands in the text. One that failed stays, and can
 *  be tried again. */
import type { World } from '../data/world.svelte'
import { t } from '../words/words.svelte'
import { explain } from '../page/explain'
import { sayError } from '../ui/toasts.svelte'
import { isSame, type Home } from './written.svelte'

/** Sounds that the server shows as a player, if they stand as a picture would. */
const SOUND = /\.(mp3|m4a|wav|ogg|oga|opus|flac|aac|weba)$/i
/** Kinds that a browser surely shows. */
const PICTURE = /^image\/(png|jpeg|gif|webp|avif)$/

type Insert = (link: string, home: Home) => void

export class Upload {
    readonly file: File
    readonly name: string
    /** An address of the picture, for as long as it is shown. */
    readonly thumbnail: string | null
    part = $state(0)
    error = $state('')
    /** Trying again makes no sense. */
    isHopeless = $state(false)
    /** Where its link goes. */
    home: Home
    #stop = new AbortController()

    constructor(file: File, home: Home) {
        this.file = file
        this.name = file.name || t('upload.unnamed')
        this.home = home
        this.thumbnail = PICTURE.test(file.type) ? URL.createObjectURL(file) : null
    }

    get signal(): AbortSignal {
        return this.#stop.signal
    }

    begin(): void {
        this.#stop = new AbortController()
        this.part = 0
        this.error = ''
    }

    end(): void {
        this.#stop.abort()
        if (this.thumbnail) URL.revokeObjectURL(this.thumbnail)
    }
}

export class Uploads {
    all: readonly Upload[] = $state.raw([])
    readonly #world: Pick<World, 'api' | 'realm'>
    #isLeft = false

    constructor(world: Pick<World, 'api' | 'realm'>) {
        this.#world = world
    }

    /** Upload, and hand the link over to be put into the text. */
    async add(file: File, home: Home, insert: Insert): Promise<void> {
        const upload = new Upload(file, home)
        this.all = [...this.all, upload]
        const most = this.#world.realm.value('max_file_upload_size_mib', 25)
        if (file.size > most * 1024 * 1024) {
            upload.error = t('upload.large', { name: upload.name, n: most })
            upload.isHopeless = true
        } else await this.try(upload, insert)
    }

    /** Once, or once more. */
    async try(upload: Upload, insert: Insert): Promise<void> {
        upload.begin()
        const { signal } = upload
        const answer = await this.#world.api.upload<{ url?: string; uri?: string; filename?: string }>(
            'user_uploads',
            upload.file,
            upload.name,
            (part) => (upload.part = part),
            signal,
        )
        if (signal.aborted) return
        if (answer.ok) {
            const { filename, url, uri } = answer.value
            insert(linkTo(filename ?? upload.name, url ?? uri ?? ''), upload.home)
            this.dismiss(upload)
        } else {
            upload.isHopeless = answer.error.kind === 'refused'
            upload.error = answer.error.status === 404 ? t('upload.none') : explain(answer.error)
            if (!this.#isLeft) return
            sayError(t('upload.failed', { name: upload.name, why: upload.error }))
            this.dismiss(upload)
        }
    }

    /** They are no longer on the screen: what is on its way goes on, and is told of if it fails. */
    leave(): void {
        this.#isLeft = true
        for (const each of this.all) if (each.error) this.dismiss(each)
    }

    dismiss(upload: Upload): void {
        upload.end()
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

function linkTo(name: string, address: string): string {
    return `${SOUND.test(address) ? '!' : ''}[${name}](${address})`
}
