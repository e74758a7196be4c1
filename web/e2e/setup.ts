/** One server for all tests of the run. Those that mistreat a server start one of their own. */
import { startServer } from './server'

export default async function setup(): Promise<() => Promise<void>> {
    const { dev, stop } = await startServer()
    process.env['TERTULIA_E2E'] = JSON.stringify(dev)
    return stop
}
