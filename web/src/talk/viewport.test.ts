import { beforeEach, describe, expect, it } from 'vitest'
import { Viewport } from './viewport.svelte'

const ROOM = 600

/** An element that scrolls as far as there is something below it. */
class Scrolled {
    clientHeight = ROOM
    spacer = { style: { blockSize: '0px' } }
    #top = 0
    get scrollHeight() {
        return Math.max(ROOM, Number.parseFloat(this.spacer.style.blockSize))
    }
    get scrollTop() {
        return this.clientHeight === 0 ? 0 : this.#top
    }
    set scrollTop(to: number) {
        this.#top = Math.max(0, Math.min(to, this.scrollHeight - ROOM))
    }
    scrollBy({ top }: { top: number }) {
        this.scrollTop += top
    }
}

const row = (key: string, height: number) => ({
    dataset: { key },
    getBoundingClientRect: () => ({ height }),
})
const keys = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => `m-${from + at}`)

let viewport: Viewport
let scroller: Scrolled
let children: ReturnType<typeof row>[]

/** Where a row is on screen. */
const onScreen = (key: string) =>
    viewport.heights.offsetOf(viewport.heights.indexOf(key) ?? Number.NaN) - scroller.scrollTop

function fill(rows: string[]) {
    viewport.setRows(rows, () => 40)
    viewport.settle()
}

function scrollTo(top: number) {
    scroller.scrollTop = top
    const key = viewport.remember()
    viewport.look()
    return key
}

beforeEach(() => {
    scroller = new Scrolled()
    children = []
    viewport = new Viewport()
    viewport.scroller = scroller as unknown as HTMLElement
    viewport.spacer = scroller.spacer as unknown as HTMLElement
    viewport.block = { style: {}, children } as unknown as HTMLElement
})

describe('the line being read', () => {
    beforeEach(() => {
        fill(keys(100, 200))
        scrollTo(1010)
    })

    it('is the first whole row on screen', () => {
        expect(scrollTo(1010)).toBe('m-126')
        expect(scrollTo(1000)).toBe('m-125')
    })

    it('is no line that may go when others are loaded', () => {
        viewport.isLasting = (key) => key !== 'm-126' && key !== 'm-127'
        expect(scrollTo(1010)).toBe('m-128')
    })

    it('stays when rows come above it', () => {
        const before = onScreen('m-126')
        fill(keys(0, 200))
        expect([onScreen('m-126'), scroller.scrollTop]).toEqual([before, 1010 + 100 * 40])
    })

    it('stays when rows go', () => {
        const before = onScreen('m-126')
        fill(keys(120, 160))
        expect(onScreen('m-126')).toBe(before)
    })

    it('stays when a row above it turns out to be higher', () => {
        const before = onScreen('m-126')
        children.push(row('m-104', 90))
        viewport.resized(false)
        expect([onScreen('m-126'), scroller.scrollTop]).toEqual([before, 1060])
    })

    it('stays when what came into the page is measured', () => {
        const before = onScreen('m-126')
        children.push(row('m-110', 65), row('m-111', 55))
        viewport.measureNew()
        expect([onScreen('m-126'), scroller.scrollTop]).toEqual([before, 1050])
        // Measured once: later changes are told by the observer.
        children.splice(0, 2, row('m-110', 500))
        viewport.measureNew()
        expect(scroller.scrollTop).toBe(1050)
    })

    it('is not put back where it was when somebody has just scrolled', () => {
        scroller.scrollTop = 810
        const before = onScreen('m-121')
        fill(keys(0, 200))
        expect(onScreen('m-121')).toBe(before)
        scroller.scrollTop -= 200
        children.push(row('m-104', 65))
        viewport.resized(false)
        expect(onScreen('m-121')).toBe(before + 200)
    })

    it('is where it was asked to be', () => {
        viewport.hold('m-150', 0.3)
        viewport.settle()
        expect([onScreen('m-150'), viewport.stuck, viewport.isHeld]).toEqual([ROOM * 0.3, false, true])
        fill(keys(160, 200))
        expect(viewport.isHeld).toBe(false)
    })
})

describe('at the end', () => {
    beforeEach(() => fill(keys(0, 100)))

    it('the list stays at the end', () => {
        expect(scroller.scrollTop).toBe(100 * 40 - ROOM)
        fill(keys(0, 110))
        expect([scroller.scrollTop, viewport.below]).toEqual([110 * 40 - ROOM, 0])
    })

    it('it stays there though the last rows have grown before anybody told', () => {
        scroller.spacer.style.blockSize = '4300px'
        viewport.remember()
        expect(viewport.stuck).toBe(true)
    })

    it('it does not once one has scrolled away', () => {
        scrollTo(3000)
        fill(keys(0, 110))
        expect([scroller.scrollTop, viewport.below, viewport.stuck]).toEqual([3000, 800, false])
    })

    it('it is no end while newer messages are not loaded', () => {
        viewport.reachesEnd = () => false
        viewport.remember()
        expect(viewport.stuck).toBe(false)
    })
})

describe('a list that is not shown for a while, as when a phone shows the places', () => {
    const told: number[] = []
    beforeEach(() => {
        fill(keys(0, 100))
        viewport.onlook = (above) => told.push(above)
    })

    function hide() {
        told.length = 0
        scroller.clientHeight = 0
        children.push(row('m-30', 0), row('m-31', 0))
        viewport.resized(true)
    }

    function show() {
        scroller.clientHeight = ROOM
        children.splice(0, 2, row('m-30', 40), row('m-31', 40))
        viewport.resized(true)
    }

    it.each(['keeps', 'loses'])('is where it was, if the browser %s how far it was scrolled', (what) => {
        scrollTo(1210)
        const before = onScreen('m-31')
        hide()
        fill(keys(0, 120))
        viewport.measureNew()
        expect([viewport.remember(), viewport.stuck]).toEqual([undefined, false])
        viewport.look()
        expect(told, 'nothing is loaded').toEqual([])
        scroller.clientHeight = ROOM
        if (what === 'loses') scroller.scrollTop = 0
        // What is told of scrolling before the size is told was done by nobody.
        viewport.remember()
        viewport.look()
        fill(keys(0, 121))
        show()
        expect([onScreen('m-31'), viewport.stuck]).toEqual([before, false])
        expect(Math.min(...told)).toBe(1210)
    })

    it('is at its end if it was there', () => {
        hide()
        fill(keys(0, 120))
        show()
        expect([scroller.scrollTop, viewport.stuck, viewport.below]).toEqual([120 * 40 - ROOM, true, 0])
    })

    it('is put to its place when it is seen for the first time', () => {
        scroller.clientHeight = 0
        fill(keys(0, 200))
        viewport.hold('m-100', 0.5)
        viewport.settle()
        show()
        expect(onScreen('m-100')).toBe(ROOM / 2)
    })
})

describe('the page', () => {
    it('holds what is near the window, however long the list is', () => {
        fill(keys(0, 100_000))
        scrollTo(2_000_000)
        const { from, to } = viewport.shown
        expect(to - from).toBeLessThan((ROOM + 2 * 900) / 40 + 3)
        expect([from * 40, to * 40]).toEqual([2_000_000 - 920, 2_000_000 + ROOM + 920])
    })

    it('keeps its rows when others come above them', () => {
        fill(keys(100, 200))
        scrollTo(1010)
        const { from, to } = viewport.shown
        viewport.setRows(keys(0, 200), () => 40)
        expect(viewport.shown).toEqual({ from: from + 100, to: to + 100 })
    })

    it('tells how much there is on both sides', () => {
        const told: number[][] = []
        viewport.onlook = (above, below) => told.push([above, below])
        fill(keys(0, 100))
        scrollTo(100)
        expect(told.at(-1)).toEqual([100, 4000 - 100 - ROOM])
    })

    it('knows whose foot was on screen', () => {
        fill(keys(0, 100))
        scrollTo(1010)
        const seen = viewport.endingOnScreen()
        expect([seen[0], seen.at(-1)]).toEqual([25, 39])
    })
})

describe('a row that is asked for', () => {
    beforeEach(() => {
        fill(keys(0, 100))
        scrollTo(1000)
    })

    it('is brought on screen, and no further than needed', () => {
        expect(viewport.approach('m-30')).toBe(true)
        expect(scroller.scrollTop).toBe(1000)
        viewport.approach('m-10')
        expect(onScreen('m-10')).toBe(48)
        viewport.approach('m-40')
        expect(onScreen('m-40')).toBe(ROOM - 24 - 40)
    })

    it('may not be there', () => {
        expect(viewport.approach('m-1000')).toBe(false)
        expect(scroller.scrollTop).toBe(1000)
    })
})
