/** One server for all tests of the run, and an identity provider that its people may sign in with. Those that mistreat a server
 *  start one of their own. */
import { ownerOf } from './people'
import { startProvider, startServer } from './server'

export default async function setup(): Promise<() => Promise<void>> {
    const provider = await startProvider()
    const { dev, stop } = await startServer({
        TERTULIA_OIDC_PROVIDERS: JSON.stringify([provider.chosen]),
        TERTULIA_MAIL_IN_ADDRESS: 'reply+%s@mail.example.com',
    })
    // Everything there is to see is switched on.
    await ownerOf(dev).call('PATCH', 'realm', { enable_read_receipts: true })
    process.env['TERTULIA_E2E'] = JSON.stringify({ ...dev, provider: provider.chosen.issuer })
    return async () => {
        await Promise.all([stop(), provider.stop()])
    }
}
