/** A whole Tertulia for a run of the end-to-end tests: `tertulia dev` on free ports with data of its own, thrown away afterwards. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

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
    /** The address of an identity provider that signs in whoever it is told of. */
    provider?: string
}

function python(): string {
    const own = join(ROOT, '.venv/bin/python')
    return existsSync(own) ? own : 'python3'
}

const environment = () => ({
    ...process.env,
    PYTHONPATH: join(ROOT, 'src'),
    TERTULIA_POSTGRES_BIN: process.env['TERTULIA_POSTGRES_BIN'] ?? 'wheel',
})

/** Start one; the answer to `stop` comes when everything is gone. */
export async function startServer(settings: object = {}): Promise<{ dev: Dev; stop: () => Promise<void> }> {
    const folder = mkdtempSync(join(tmpdir(), 'tertulia-e2e-'))
    const child = spawn(python(), ['-m', 'tertulia', 'dev', '--port', '0', '--json', '--data', join(folder, 'data')], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
        env: {
            ...environment(),
            TERTULIA_RATE_LIMITS: 'false',
            TERTULIA_POSTGRES_POOL_SECONDS: '20',
            TERTULIA_PASSWORD_MEMORY_MIB: '1',
            ...settings,
        },
    })
    const line = await firstLine(child)
    const dev = { ...(JSON.parse(line) as Omit<Dev, 'folder'>), folder }
    const stop = async () => {
        await ended(child)
        rmSync(folder, { recursive: true, force: true })
    }
    return { dev, stop }
}

/** A command of an administrator, such as `realm create`; what it printed. */
export async function runCommand(dev: Dev, command: string[], settings: object = {}): Promise<string> {
    const given = ['-m', 'tertulia', ...command, '--data', join(dev.folder, 'data')]
    return (await promisify(execFile)(python(), given, { env: { ...environment(), ...settings } })).stdout
}

/** A statement at the server's database, for what takes months otherwise. */
export async function runStatement(dev: Dev, statement: string): Promise<void> {
    const { postgres_url } = JSON.parse(readFileSync(join(dev.folder, 'data', 'state.json'), 'utf8')) as {
        postgres_url: string
    }
    const program = `
import asyncio, sys, asyncpg
async def run():
    connection = await asyncpg.connect(sys.argv[1])
    await connection.execute(sys.argv[2])
    await connection.close()
asyncio.run(run())`
    await promisify(execFile)(python(), ['-c', program, postgres_url, statement], { env: environment() })
}

/** An identity provider (the one that the Python tests use), and how the server is told of it. */
export async function startProvider() {
    const port = await freePort()
    const given = ['-W', 'ignore', '-m', 'oidc_provider_mock', '--host', 'localhost', '--port', String(port)]
    const env = { ...process.env, AUTHLIB_INSECURE_TRANSPORT: '1' }
    const child = spawn(python(), given, { stdio: 'ignore', env })
    const chosen = {
        name: 'example',
        display_name: 'Example',
        issuer: `http://localhost:${port}`,
        client_id: 'tertulia',
        client_secret: 'not much of a secret',
    }
    return { chosen, stop: () => ended(child) }
}

function freePort(): Promise<number> {
    return new Promise((resolve) => {
        const probe = createServer()
        probe.listen(0, '127.0.0.1', () => {
            const { port } = probe.address() as AddressInfo
            probe.close(() => resolve(port))
        })
    })
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
