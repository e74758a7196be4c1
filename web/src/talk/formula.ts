/** Formulas, drawn by KaTeX into the element that holds the TeX. A chunk of its own, with its fonts: loaded when needed. */
import { render } from 'katex'
import 'katex/dist/katex.min.css'

export function draw({ element, tex, display }: { element: Element; tex: string; display: boolean }): void {
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
