/** The text in the compose box, and where it is kept: with every key, under the conversation it is addressed to, or as loose text
 *  while that is not known. Nothing that was written is ever lost or sent elsewhere:
 *
 *  - In another place the box holds that place's own draft.
 *  - When only the recipient is chosen, the text goes along. If a draft is waiting there already, it stays there, and the text is
 *    kept where it was, until it is sent.
 *  - A draft that came into the empty box because its recipient was passed (a topic being typed) stays with it until it is touched. */
import type { SendPlace } from '../data/outbox.svelte'
import { keyOf } from '../data/place'

/** Null: to nobody yet. */
export type Home = SendPlace | null

export interface Kept {
    textOf(place: SendPlace): string
    write(place: SendPlace, text: string): void
    clear(place: SendPlace): void
    /** What is addressed to nobody yet. */
    loose: string
}

export class Written {
    text = $state('')
    readonly #kept: Kept
    #home: Home = $state.raw(null)
    #isLent = false
    /** What is on its way into the text goes along. */
    onmove: (from: Home, to: Home) => void = () => {}

    constructor(kept: Kept) {
        this.#kept = kept
    }

    get home(): Home {
        return this.#home
    }

    /** We are in another place. */
    come(to: Home): void {
        this.#home = to
        this.#isLent = false
        this.text = read(this.#kept, to)
    }

    /** Another recipient was chosen. */
    address(to: Home): void {
        const from = this.#home
        if (isSame(from, to)) return
        const there = read(this.#kept, to)
        if (this.#isLent || !this.text.trim()) {
            const wasLent = this.#isLent
            this.#home = to
            this.#isLent = there !== ''
            this.text = there
            if (!wasLent) this.onmove(from, to)
        } else if (!there.trim()) {
            this.#home = to
            write(this.#kept, to, this.text)
            drop(this.#kept, from)
            this.onmove(from, to)
        }
    }

    /** Every change of the text comes here. */
    typed(): void {
        this.#isLent = false
        write(this.#kept, this.#home, this.text)
    }

    /** What is kept for it now. */
    get kept(): string {
        return read(this.#kept, this.#home)
    }

    /** It was written on, or sent, in another tab or on another device. The server keeps no spaces at the end. */
    follow(): void {
        if (this.kept.trimEnd() !== this.text.trimEnd()) this.text = this.kept
    }

    sent(to: SendPlace): void {
        drop(this.#kept, this.#home)
        this.come(to)
    }

    /** This text was taken as it was then; what was written since stays. Whether the box is empty now. */
    taken(from: Home, text: string): boolean {
        const isHere = isSame(from, this.#home)
        if ((isHere ? this.text : read(this.#kept, from)) !== text) return false
        drop(this.#kept, from)
        if (isHere) this.text = ''
        return isHere
    }

    append(more: string): void {
        this.text = joined(this.text, more)
        this.typed()
    }
}

/** The box that is on the screen. */
let shown: Written | null = null

export function show(written: Written): () => void {
    shown = written
    return () => {
        if (shown === written) shown = null
    }
}

/** Text that comes by itself, at the end of what is written there: a file's link, a message that could not be sent. */
export function put(kept: Kept, to: Home, more: string): void {
    if (shown && isSame(shown.home, to)) shown.append(more)
    else write(kept, to, joined(read(kept, to), more))
}

export function isSame(one: Home, other: Home): boolean {
    return one === other || (one !== null && other !== null && keyOf(one) === keyOf(other))
}

export function joined(text: string, more: string): string {
    return text.trim() ? `${text}${/\s$/.test(text) ? '' : '\n'}${more}` : more
}

function read(kept: Kept, home: Home): string {
    return home ? kept.textOf(home) : kept.loose
}

function write(kept: Kept, home: Home, text: string): void {
    if (home) kept.write(home, text)
    else kept.loose = text
}

function drop(kept: Kept, home: Home): void {
    if (home) kept.clear(home)
    else kept.loose = ''
}
