/** Compresses what was built, once and well, so that the server only has to read it: `main.js.br` and `main.js.gz` beside `main.js`.
 *  The page is touched last: a server in development takes that as the sign of a new build. */
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const BUILT = fileURLToPath(new URL('../../src/tertulia/content/webclient/built/', import.meta.url))
const WORTH_IT = /\.(js|css|html|svg|json|webmanifest)$/

for (const entry of readdirSync(BUILT, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !WORTH_IT.test(entry.name) || file.includes('/.vite/')) continue
    const whole = readFileSync(file)
    if (whole.length < 1000) continue
    writeFileSync(`${file}.gz`, gzipSync(whole, { level: 9 }))
    const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: whole.length }
    writeFileSync(`${file}.br`, brotliCompressSync(whole, { params }))
}
const now = new Date()
utimesSync(join(BUILT, 'index.html'), now, now)
