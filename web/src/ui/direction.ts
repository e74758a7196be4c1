/** Which way lines run: `dir` of the page, which follows the language that is shown. */

export const isRightToLeft = (): boolean => document.documentElement.dir === 'rtl'

const MIRRORED: Record<string, string> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' }

/** An arrow key as it counts along a line: ArrowRight goes on, ArrowLeft goes back, whichever way the line runs. */
export const alongLine = (key: string): string => (isRightToLeft() ? (MIRRORED[key] ?? key) : key)
