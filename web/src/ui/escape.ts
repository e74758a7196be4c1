/** Esc goes one step back, always: whatever can be left pushes how, and the key leaves the topmost alone.
 *
 *  `onEscape(fn)` returns the function that takes it away again; in a component: `$effect(() => onEscape(close))`.
 *  A step that returns false did not apply, and the one below it is asked: a handler of others' is called with `void`,
 *  for it may return what it assigned. A text field that holds an open list of suggestions pushes a step like everything
 *  else; nothing listens for the key by itself. */

type Step = () => boolean | void

const steps: Step[] = []

export function onEscape(step: Step): () => void {
    steps.push(step)
    return () => {
        const at = steps.lastIndexOf(step)
        if (at !== -1) steps.splice(at, 1)
    }
}

export function stepBack(): boolean {
    for (const step of steps.toReversed()) if (step() !== false) return true
    return false
}

export function listenForEscape(target: Window): () => void {
    const listener = (event: KeyboardEvent) => {
        if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return
        if (stepBack()) event.preventDefault()
    }
    target.addEventListener('keydown', listener)
    return () => target.removeEventListener('keydown', listener)
}
