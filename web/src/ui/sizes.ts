/** How much room a file takes, in words: the unit that gives a short number. */
import { numberFormat } from './formats'

const UNITS = [
    ['gigabyte', 1e9],
    ['megabyte', 1e6],
    ['kilobyte', 1e3],
] as const

export function sizeText(bytes: number, language: string): string {
    const [unit, size] = UNITS.find(([, each]) => bytes >= each) ?? (['byte', 1] as const)
    const figure = bytes / size
    const maximumFractionDigits = unit === 'megabyte' || unit === 'gigabyte' ? (figure < 10 ? 1 : 0) : 0
    return numberFormat(language, { style: 'unit', unit, maximumFractionDigits }).format(figure)
}
