/** The part of a long list that is in the page, and where it stands.
 *
 *  The line being read never jumps: before anything changes, the first whole row on screen and its place are remembered (the
 *  anchor); after rows came, went or changed their height, `settle` scrolls so that it is where it was. At the very end the
 *  list sticks to the end instead. The browser's own anchoring is off.
 *
 *  A phone shows the places instead of the talk: the list then has no size, and what could be measured means nothing. Nothing
 *  moves and nothing is loaded until it is back, and then the anchor gets its old place whatever the browser kept.
 *
 *  Rows stand in a `block` that is moved as a whole inside a `spacer`, which is as high as all of them. */
import { tick } from 'svelte'
import { Heights } from './heights'

/** Rows this near to the window are in the page. */
const SPARE = 900
/** Room that is left beside a row that was brought on screen. */
const [ABOVE, BELOW] = [48, 24]

export class Viewport {
    readonly heights = new Heights()
    /** The rows in the page. */
    shown = $state.raw({ from: 0, to: 0 })
    /** At the end, and to stay there. */
    stuck = $state(true)
    /** What there is below the window. */
    below = $state(0)
    scroller: HTMLElement | undefined
    spacer: HTMLElement | undefined
    block: HTMLElement | undefined
    /** Whether a row stays as long as what is around it is loaded. */
    isLasting: (key: string) => boolean = () => true
    /** Whether nothing comes behind the last row. */
    reachesEnd: () => boolean = () => true
    /** Told how much there is above and below the window, whenever one looks. */
    onlook: (above: number, below: number) => void = () => {}
    #anchor: { key: string; offset: number } | null = null
    /** How far it was scrolled when we last looked. */
    #top = 0
    /** It had no size, and has not been given its place since. */
    #isAway = false

    get room(): number {
        return this.scroller?.clientHeight || 600
    }

    /** Whether the row that is held is still among the rows. */
    get isHeld(): boolean {
        return this.#anchor !== null && this.heights.indexOf(this.#anchor.key) !== undefined
    }

    /** From now on this row stays where it is put: so much of the window below its top. */
    hold(key: string, part: number): void {
        this.stuck = false
        this.#anchor = { key, offset: -this.room * part }
    }

    stick(): void {
        this.stuck = true
        this.#anchor = null
    }

    /** These are the rows now. Those that were in the page stay in it, wherever they are in the list. */
    setRows(keys: readonly string[], estimate: (index: number) => number): void {
        this.#catchUp()
        const { heights, shown } = this
        const [first, last] = [heights.keyAt(shown.from), heights.keyAt(shown.to - 1)]
        heights.setRows(keys, estimate)
        const from = first === undefined ? undefined : heights.indexOf(first)
        const to = last === undefined ? undefined : heights.indexOf(last)
        if (from !== undefined && to !== undefined && from !== shown.from) this.shown = { from, to: to + 1 }
    }

    /** Give everything its place, and the anchor its old one. */
    settle(): void {
        const { scroller, spacer, heights } = this
        if (!scroller || !spacer || this.#hasNoSize()) return
        this.#isAway = false
        spacer.style.blockSize = `${heights.total}px`
        const index = this.#anchor ? heights.indexOf(this.#anchor.key) : undefined
        if (this.stuck) scroller.scrollTop = scroller.scrollHeight
        else if (this.#anchor && index !== undefined) {
            const wanted = heights.offsetOf(index) + this.#anchor.offset
            if (Math.abs(scroller.scrollTop - wanted) > 0.5) scroller.scrollTop = wanted
        }
        this.look()
        this.moveBlock()
    }

    /** What is to be in the page now. */
    look(): void {
        const { scroller, heights } = this
        if (!scroller || this.#hasNoSize() || this.#isAway) return
        const top = scroller.scrollTop
        this.#top = top
        const from = heights.indexAt(Math.max(0, top - SPARE))
        const to = Math.min(heights.length, heights.indexAt(top + scroller.clientHeight + SPARE) + 1)
        if (from !== this.shown.from || to !== this.shown.to) this.shown = { from, to }
        this.below = Math.max(0, heights.total - top - scroller.clientHeight)
        this.onlook(top, this.below)
    }

    moveBlock(): void {
        if (this.block) this.block.style.insetBlockStart = `${this.heights.offsetOf(this.shown.from)}px`
    }

    /** What has just come into the page is measured before it is seen: one layout, and everything is where it belongs. */
    measureNew(): void {
        this.moveBlock()
        if (this.#measure((key) => !this.heights.isMeasured(key))) this.settle()
    }

    /** The block, or something around it, has another size. */
    resized(isAround: boolean): void {
        if (this.#measure(() => true) || isAround) this.settle()
    }

    /** Whether a row turned out to be of another height. */
    #measure(isWanted: (key: string) => boolean): boolean {
        if (this.#hasNoSize()) return false
        this.#catchUp()
        let changed = false
        for (const element of this.block?.children ?? []) {
            const key = (element as HTMLElement).dataset['key']
            if (key && isWanted(key))
                changed = this.heights.measure(key, element.getBoundingClientRect().height) || changed
        }
        return changed
    }

    #hasNoSize(): boolean {
        const hasNone = this.scroller?.clientHeight === 0
        this.#isAway ||= hasNone
        return hasNone
    }

    /** Somebody may have scrolled, and nobody has told yet: that is not to be undone. */
    #catchUp(): void {
        if (this.scroller && !this.#hasNoSize() && Math.abs(this.scroller.scrollTop - this.#top) > 1) this.remember()
    }

    /** Where one is after scrolling: the anchor is the first whole lasting row on screen. Returns its key. */
    remember(): string | undefined {
        const { scroller, heights } = this
        if (!scroller || this.#hasNoSize() || this.#isAway) return undefined
        const top = scroller.scrollTop
        // Where we put it ourselves it is at the end, though a formula or picture may have grown since.
        const isOwn = this.stuck && Math.abs(top - this.#top) <= 1
        this.#top = top
        this.stuck = this.reachesEnd() && (isOwn || scroller.scrollHeight - top - scroller.clientHeight < 8)
        const bottom = top + scroller.clientHeight
        let index = heights.indexAt(top)
        // What stands between messages comes and goes with what is loaded: a message is better to hold on to.
        const isPoor = (at: number) => heights.offsetOf(at) < top - 1 || !this.isLasting(heights.keyAt(at) ?? '')
        while (isPoor(index) && index + 1 < heights.length && heights.offsetOf(index + 1) < bottom) index += 1
        const key = heights.keyAt(index)
        this.#anchor = key === undefined ? null : { key, offset: top - heights.offsetOf(index) }
        return key
    }

    /** Bring a row on screen, no further than needed; false if it is not among the rows. */
    approach(key: string): boolean {
        const { scroller, heights } = this
        const index = heights.indexOf(key)
        if (index === undefined || !scroller) return false
        const [top, bottom] = [heights.offsetOf(index), heights.offsetOf(index + 1)]
        this.stuck = false
        if (top < scroller.scrollTop + 8) scroller.scrollTop = top - ABOVE
        else if (bottom > scroller.scrollTop + this.room - 8)
            scroller.scrollTop = Math.min(top - ABOVE, bottom - this.room + BELOW)
        return true
    }

    /** After scrolling by hand: what is to be there is there. */
    async arrive(): Promise<void> {
        this.look()
        await tick()
        this.moveBlock()
    }

    /** A page further down (1) or up (-1). */
    page(by: 1 | -1): void {
        this.scroller?.scrollBy({ top: by * (this.room - 80) })
    }

    /** Rows whose foot is on screen. */
    endingOnScreen(): number[] {
        const { scroller, heights, shown } = this
        if (!scroller) return []
        const top = scroller.scrollTop
        const bottom = top + scroller.clientHeight
        const found: number[] = []
        for (let index = shown.from; index < shown.to; index++) {
            const foot = heights.offsetOf(index + 1)
            if (foot > top && foot <= bottom + 4) found.push(index)
        }
        return found
    }

    /** The row from which a step downwards (1) or upwards (-1) begins when no row has the focus. */
    edge(by: 1 | -1): number {
        const { scroller, heights } = this
        const top = scroller?.scrollTop ?? 0
        return by === 1 ? heights.indexAt(top) + 1 : heights.indexAt(top + this.room) - 1
    }
}
