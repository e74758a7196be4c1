/** How large, how dense and how wide the page is, as somebody's settings say: numbers for the tokens of tokens.css.
 *
 *  The settings' own defaults are what the tokens say, so that who changes nothing sees what was designed; and a size is a part of
 *  the size that the browser was told, so that who made all pages larger has this one larger still. */
import type { ApiUserSettings } from '../data/api-types'

export type LookSettings = Pick<ApiUserSettings, 'web_font_size_px' | 'web_line_height_percent' | 'fluid_layout_width'>

export const FONT_SIZES = [13, 14, 15, 16, 17, 18, 20, 22]
export const DENSITIES = { compact: 122, normal: 140, airy: 160 } as const

const PLAIN = { size: 16, leading: 140 }
const LEADING_TALK = 1.5
/** Wider than any screen. */
const WHOLE = '9999px'

export function lookOf(settings: LookSettings): Record<string, string> {
    const { web_font_size_px: size, web_line_height_percent: leading, fluid_layout_width: isWide } = settings
    return {
        'font-size': size === PLAIN.size ? '' : `${(size / PLAIN.size) * 100}%`,
        '--leading-talk': leading === PLAIN.leading ? '' : String((leading / PLAIN.leading) * LEADING_TALK),
        '--air': leading === PLAIN.leading ? '' : `${Math.max(0, (leading - 120) / 10)}px`,
        '--width-text': isWide ? WHOLE : '',
    }
}

export function showLook(settings: LookSettings, root: HTMLElement = document.documentElement): void {
    for (const [name, value] of Object.entries(lookOf(settings))) root.style.setProperty(name, value)
}
