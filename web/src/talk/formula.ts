/** Formulas, drawn by KaTeX into the element that holds the TeX. A chunk of its own, with its fonts: loaded when needed. */
import { render } from 'katex'
import 'katex/dist/katex.min.css'
import type { Formula } from './content'

let waiting: Formula[] = []

/** One after the other, and whatever else the page has to do in between: of all messages together they may take long. Those
 *  that were asked for last are the ones on screen: they come before what was scrolled past. */
export function draw(formulas: readonly Formula[]): void {
    const isIdle = waiting.length === 0
    waiting = [...formulas, ...waiting]
    if (isIdle) setTimeout(drawNext)
}

function drawNext(): void {
    const next = waiting.shift()
    if (next) drawOne(next)
    if (waiting.length > 0) setTimeout(drawNext)
}

function drawOne({ element, tex, display }: Formula): void {
    if (!element.isConnected && element.parentNode === null) return
    const drawn = document.createElement('span')
    try {
        render(tex, drawn, {
            displayMode: display,
            throwOnError: false,
            trust: false,
            maxExpand: 200,
            maxSize: 20,
        })
    } catch {
        return
    }
    element.replaceWith(drawn)
}
