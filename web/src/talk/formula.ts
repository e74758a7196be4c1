/** Formulas, drawn by KaTeX into the element that holds the TeX. A chunk of its own, with its fonts: loaded when needed. */
import { render } from 'katex'
import 'katex/dist/katex.min.css'
import type { Formula } from './content'

let turn = Promise.resolve()

/** One after the other, and whatever else the page has to do in between: of all messages together they may take long. */
export function draw(formulas: readonly Formula[]): void {
    for (const formula of formulas) turn = turn.then(rest).then(() => drawOne(formula))
}

function rest(): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve))
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
