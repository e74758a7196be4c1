/** What the browser keeps over a reload: small texts by name, those of one person. A browser that keeps nothing is no reason to fail. */

export interface Keep {
    get(name: string): string | null
    set(name: string, value: string): void
    delete(name: string): void
    /** All names that begin so. */
    names(prefix: string): string[]
}

/** The local storage of this browser, shared by its tabs. */
export const browserKeep: Keep = {
    get: (name) => quietly(() => localStorage.getItem(name), null),
    set: (name, value) => quietly(() => localStorage.setItem(name, value), undefined),
    delete: (name) => quietly(() => localStorage.removeItem(name), undefined),
    names: (prefix) => quietly(() => Object.keys(localStorage).filter((name) => name.startsWith(prefix)), []),
}

/** Until the page is gone: for tests, and for browsers that refuse. */
export function memoryKeep(): Keep {
    const values = new Map<string, string>()
    return {
        get: (name) => values.get(name) ?? null,
        set: (name, value) => void values.set(name, value),
        delete: (name) => void values.delete(name),
        names: (prefix) => [...values.keys()].filter((name) => name.startsWith(prefix)),
    }
}

export function readJson<T>(keep: Keep, name: string): T | null {
    try {
        return JSON.parse(keep.get(name) ?? 'null') as T | null
    } catch {
        return null
    }
}

function quietly<T>(work: () => T, otherwise: T): T {
    try {
        return work()
    } catch {
        return otherwise
    }
}
