/** How well one colour is read on another, by WCAG 2: from OKLCH to relative luminance (pure). */

export interface Oklch {
    l: number
    c: number
    h: number
}

/** `oklch(0.5 0.1 40)`, or null for anything else. Colours with an alpha have no contrast of their own. */
export function parseOklch(text: string): Oklch | null {
    const match = /^oklch\(\s*([\d.]+)\s+([\d.]+)\s+([\d.]+)\s*\)$/.exec(text.trim())
    return match ? { l: Number(match[1]), c: Number(match[2]), h: Number(match[3]) } : null
}

export function luminance({ l, c, h }: Oklch): number {
    const a = c * Math.cos((h * Math.PI) / 180)
    const b = c * Math.sin((h * Math.PI) / 180)
    const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3
    const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3
    const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3
    const red = clamp(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short)
    const green = clamp(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short)
    const blue = clamp(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

export function contrast(one: Oklch, other: Oklch): number {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number]
    return (high + 0.05) / (low + 0.05)
}

function clamp(value: number): number {
    return Math.min(1, Math.max(0, value))
}
