/** How the client is built and tested. The files go into the Python package, which serves them at `/`. */
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

/** `npm run dev` speaks to this server: a `tertulia dev` at its usual port, unless told otherwise. */
const server = process.env['TERTULIA_URL'] ?? 'http://127.0.0.1:9991'
const proxied = ['/api', '/avatar', '/user_avatars', '/user_uploads', '/static', '/login', '/health']

export default defineConfig({
    plugins: [svelte()],
    build: {
        outDir: '../src/tertulia/content/webclient/built',
        emptyOutDir: true,
        manifest: true,
        target: 'es2022',
        assetsInlineLimit: 0,
        chunkSizeWarningLimit: 400,
    },
    server: {
        proxy: Object.fromEntries(proxied.map((path) => [path, { target: server, changeOrigin: true }])),
    },
    test: {
        include: ['src/**/*.test.ts', 'scripts/**/*.test.ts', 'e2e/**/*.test.ts'],
        passWithNoTests: true,
        pool: 'threads', // each file is as much for itself as in a process of its own, and begins sooner
    },
})
