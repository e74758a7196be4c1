/** The layers of `src`: which folder may import which. Every folder is in the table; one without a line, and an import that no
 *  line allows, is an error. Files beside the folders (`main.ts`, `App.svelte`) put everything together and may import all.
 *
 *  A linter looks at `import` statements only; this reads dynamic imports and those in templates as well. `npm run lint` runs it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, normalize } from 'node:path'

export const MAY_IMPORT = {
    words: [],
    ui: ['words'],
    data: [],
    page: ['data', 'ui', 'words'],
    notifications: ['page', 'data', 'ui', 'words'],
    // What is shown: none of the three knows of another.
    talk: ['page', 'data', 'ui', 'words'],
    places: ['page', 'data', 'ui', 'words'],
    settings: ['notifications', 'page', 'data', 'ui', 'words'],
    // A page for developers, not in what is built for users.
    gallery: ['ui', 'words'],
    shell: ['talk', 'places', 'settings', 'notifications', 'page', 'data', 'ui', 'words'],
}

const IMPORTS = /(?:\bfrom\s*|\bimport\s*\(?\s*)(['"])(\.[^'"]+)\1/g

/** What is wrong with these files (paths below `src`, and their texts), a line for each. */
export function violations(files, mayImport = MAY_IMPORT) {
    return Object.entries(files).flatMap(([path, text]) => {
        const folder = folderOf(path)
        if (folder === null) return []
        const allowed = mayImport[folder]
        if (!allowed) return [`src/${path}: the folder ${folder} has no line in scripts/layers.mjs`]
        return [...text.matchAll(IMPORTS)]
            .map(([, , target]) => folderOf(normalize(join(path, '..', target))))
            .filter((target) => target !== folder && !allowed.includes(target))
            .map((target) => `src/${path}: ${folder} may not import ${target ?? 'what puts everything together'}`)
    })
}

const folderOf = (path) => (path.includes('/') ? path.slice(0, path.indexOf('/')) : null)

function sources(root) {
    const paths = readdirSync(root, { recursive: true }).filter((path) => /\.(ts|svelte|css)$/.test(path))
    return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

if (import.meta.main ?? process.argv[1] === import.meta.filename) {
    const wrong = violations(sources(join(import.meta.dirname, '../src')))
    for (const line of wrong) console.error(line)
    if (wrong.length) console.error('  -> docs/explanation/web-client.md says what the layers are')
    process.exitCode = wrong.length ? 1 : 0
}
