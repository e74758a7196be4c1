/** The weight of the first view, read from the built manifest: what a browser must fetch before messages can be read
 *  (page, entry with its static imports, their styles, the fonts named below), gzipped. Fails above the limit.
 *
 *  A chunk that the first view loads at once by `import()` counts too when its source is listed in FIRST. */
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'

const LIMIT_KB = 200
const BUILT = new URL('../../src/tertulia/content/webclient/built/', import.meta.url)
/** Fonts that the first Latin text needs; others load by unicode-range when such letters appear. */
const FIRST_FONTS = /source-sans-3-latin-wght-normal.*\.woff2$/
const FIRST = []

const manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', BUILT), 'utf8'))
const files = new Set(['index.html'])
const seen = new Set()

function take(key) {
    if (seen.has(key)) return
    seen.add(key)
    const chunk = manifest[key]
    if (!chunk) return
    files.add(chunk.file)
    for (const css of chunk.css ?? []) files.add(css)
    for (const asset of chunk.assets ?? []) if (FIRST_FONTS.test(asset)) files.add(asset)
    for (const imported of chunk.imports ?? []) take(imported)
}

take('index.html')
FIRST.forEach(take)
for (const chunk of Object.values(manifest)) if (FIRST_FONTS.test(chunk.file)) files.add(chunk.file)

let total = 0
for (const file of files) {
    const size = gzipSync(readFileSync(new URL(file, BUILT)), { level: 9 }).length
    total += size
    console.log(`${(size / 1000).toFixed(1).padStart(7)} kB  ${file}`)
}
console.log(`${(total / 1000).toFixed(1).padStart(7)} kB gzip in the first view (limit ${LIMIT_KB})`)
if (total > LIMIT_KB * 1000) {
    console.error('The first view is too heavy: load what it does not need with import().')
    process.exit(1)
}
