/** The looks in which the gallery shows every component, and how a look comes about in the page of one sample. */

export const LOOKS = ['light', 'dark', 'narrow', 'focused', 'error'] as const
export type Look = (typeof LOOKS)[number]

/** Wide enough that what floats is beside its anchor, and a phone, where it is a sheet. */
export const WIDTH: Record<Look, number> = { light: 780, dark: 780, narrow: 320, focused: 780, error: 780 }

export const isLook = (text: string | null): text is Look => (LOOKS as readonly (string | null)[]).includes(text)

const FOCUSABLE = 'input, textarea, button, a[href], [tabindex="0"]'

export function dress(look: Look): void {
    document.documentElement.dataset['theme'] = look === 'dark' ? 'dark' : 'light'
    if (look === 'focused') pretendFocus()
}

/** A document has one focus at most, and none while another is used: so the styles of the focus are copied to a mark that
 *  stays. What has the focus already, as in a menu, is marked; else the first thing that can have it. */
function pretendFocus(): void {
    for (const sheet of document.styleSheets) copyRules(sheet)
    const first = document.activeElement?.matches(FOCUSABLE)
        ? document.activeElement
        : document.querySelector(FOCUSABLE)
    first?.setAttribute('data-focused', '')
}

function copyRules(sheet: CSSStyleSheet): void {
    for (const rule of Array.from(sheet.cssRules)) {
        if (rule instanceof CSSStyleRule && rule.selectorText.includes(':focus-visible')) {
            const text = rule.cssText.replaceAll(':focus-visible', '[data-focused]')
            sheet.insertRule(text, sheet.cssRules.length)
        }
    }
}
