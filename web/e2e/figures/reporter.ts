/** All figures as one table, at the end of `npm run figures`. */
import { cpus, loadavg } from 'node:os'
import type { Reporter, TestCase, TestResult } from '@playwright/test/reporter'

export default class Figures implements Reporter {
    readonly #rows: string[] = []
    readonly #began = loadavg()[0] ?? 0

    onTestEnd(_test: TestCase, result: TestResult): void {
        for (const { type, description } of result.annotations)
            if (type === 'figure') this.#rows.push(`| ${(description ?? '').replace('|', ' | ')} |`)
    }

    onEnd(): void {
        const load = `${this.#began.toFixed(1)} at the beginning, ${(loadavg()[0] ?? 0).toFixed(1)} at the end`
        console.log(`\n${cpus().length} cores, software drawing; load average ${load}\n`)
        console.log(['| What | Figure |', '|---|---|', ...this.#rows].join('\n'))
    }

    printsToStdio(): boolean {
        return false
    }
}
