/** Sites where code can be run: the address for a piece of code, from the template of the organization (pure). */
import type { Playground } from '../data/api-schema'

/** Those of a language, as code blocks name it. */
export function playgroundsFor(all: readonly Playground[], language: string): Playground[] {
    return all.filter((each) => each.pygments_language.toLowerCase() === language.toLowerCase())
}

/** How it is put in, its name, and how much of it at most. */
const VARIABLE = /\{([+#/?&.;]?)(\w+)(?::(\d+)|\*)?\}/g

/** The template (RFC 6570) with its variable `code`; null if it leads to no web page. */
export function playgroundAddress(template: string, code: string): string | null {
    const address = template.replace(VARIABLE, (_whole, how: string, name: string, most?: string) => {
        if (name !== 'code') return ''
        const given = most ? [...code].slice(0, Number(most)).join('') : code
        const value = how === '+' || how === '#' ? encodeURI(given) : encodeURIComponent(given)
        if (how === '?' || how === '&' || how === ';') return `${how}code=${value}`
        return how === '+' ? value : how + value
    })
    return /^https?:\/\//i.test(address) ? address : null
}
