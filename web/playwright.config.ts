/** End-to-end tests: real browsers (Debian's Chromium) at a real server, one for the run; `npm run e2e` after `npm run build`. */
import { defineConfig } from '@playwright/test'

export default defineConfig({
    testDir: 'e2e',
    testMatch: process.env['FIGURES'] ? '**/*.bench.ts' : '**/*.spec.ts',
    globalSetup: './e2e/setup.ts',
    outputDir: 'test-results',
    snapshotPathTemplate: '{testDir}/looks/{arg}{ext}',
    fullyParallel: false,
    workers: 2,
    // On a machine that others use as well a browser may be starved for a while: bin/check gives a second try, alone, at the end.
    retries: 0,
    timeout: 150_000, // a journey of half a minute takes two beside other suites
    expect: { timeout: 30_000 },
    reporter: [['line']],
    forbidOnly: process.env['CI'] === 'true',
    use: {
        actionTimeout: 30_000,
        viewport: { width: 1440, height: 900 },
        locale: 'en-US',
        timezoneId: 'Europe/Berlin',
        trace: 'retain-on-failure',
        screenshot: 'only-on-failure',
        launchOptions: {
            executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
            args: [
                '--no-sandbox',
                '--disable-gpu',
                '--disable-background-networking',
                '--disable-component-update',
                '--disable-sync',
                '--no-first-run',
            ],
        },
    },
})
