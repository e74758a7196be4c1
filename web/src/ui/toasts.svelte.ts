/** One line at the foot of the page that says what just happened: `say(t('...'))`, with at most one thing to do about it
 *  (`{ text, run }`, such as Undo). A new line replaces the old one; it goes by itself, unless it is being looked at. */

interface Line {
    text: string
    action: { text: string; run: () => void } | undefined
    kind: 'plain' | 'error'
}

let line = $state.raw<Line | null>(null)
let timer: ReturnType<typeof setTimeout> | undefined

export const spoken = (): Line | null => line

export function say(text: string, action?: Line['action'], kind: Line['kind'] = 'plain'): void {
    line = { text, action, kind }
    linger()
}

export const sayError = (text: string, action?: Line['action']): void => say(text, action, 'error')

export function hush(): void {
    clearTimeout(timer)
    line = null
}

/** Does what the line offers, and the line is gone; false: it offers nothing. */
export function takeUp(): boolean {
    const action = line?.action
    if (!action) return false
    hush()
    action.run()
    return true
}

export function hold(): void {
    clearTimeout(timer)
}

export function linger(): void {
    clearTimeout(timer)
    timer = setTimeout(hush, line?.action || line?.kind === 'error' ? 8000 : 4000)
}
