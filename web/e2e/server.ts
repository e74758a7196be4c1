/** A whole Tertulia for a run of the end-to-end tests: `tertulia dev` on free ports with data of its own, thrown away afterwards. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

export interface DevUser {
    user_id: number
    email: string
    password: string | null
    api_key: string
    role: number
}

export interface Dev {
    url: string
    users: DevUser[]
    channels: { stream_id: number; name: string }[]
    pids: Record<string, number>
    folder: string
}

/** Start one; the answer to `stop` comes when everything is gone. */
export async function startServer(): Promise<{ dev: Dev; stop: () => Promise<void> }> {
    const folder = mkdtempSync(join(tmpdir(), 'tertulia-e2e-'))
    const python = join(ROOT, '.venv/bin/python')
    const child = spawn(
        existsSync(python) ? python : 'python3',
        ['-m', 'tertulia', 'dev', '--port', '0', '--json', '--data', join(folder, 'data')],
        {
            cwd: folder,
            stdio: ['ignore', 'pipe', 'inherit'],
            env: {
                ...process.env,
                PYTHONPATH: join(ROOT, 'src'),
                TERTULIA_POSTGRES_BIN: process.env['TERTULIA_POSTGRES_BIN'] ?? 'wheel',
                TERTULIA_RATE_LIMITS: 'false',
            },
        },
    )
    const line = await firstLine(child)
    const dev = { ...(JSON.parse(line) as Omit<Dev, 'folder'>), folder }
    const stop = async () => {
        await ended(child)
        rmSync(folder, { recursive: true, force: true })
    }
    return { dev, stop }
}

function firstLine(child: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
        let text = ''
        child.stdout?.on('data', (part: Buffer) => {
            text += part.toString()
            if (text.includes('\n')) resolve(text.split('\n')[0] ?? '')
        })
        child.on('exit', (code) => reject(new Error(`tertulia dev ended with ${code}`)))
    })
}

function ended(child: ChildProcess): Promise<void> {
    return new Promise((resolve) => {
        if (child.exitCode !== null) return resolve()
        child.on('exit', () => resolve())
        child.kill('SIGTERM')
    })
}

/** The processes as they are now: one that was killed has come back with another number. */
export function pidsOf(dev: Dev): Record<string, number> {
    const state = JSON.parse(readFileSync(join(dev.folder, 'data', 'state.json'), 'utf8')) as {
        pids: Record<string, number>
    }
    return state.pids
}
