import { createHmac } from 'node:crypto'
import { expect, test, unique } from './people'
import { runStatement } from './server'

/** What an authenticator shows (RFC 6238), some steps of 30 seconds from now. */
function codeOf(secret: string, ahead = 0): string {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
    const bits = [...secret].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('')
    const key = Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)))
    const counter = Buffer.alloc(8)
    counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30000) + ahead))
    const digest = createHmac('sha1', key).update(counter).digest()
    const offset = (digest.at(-1) ?? 0) & 15
    return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1e6).padStart(6, '0')
}

test('an authenticator is set up with the password, asked for at the sign-in, and a recovery code stands in', async ({
    newcomer,
}) => {
    const nadia = await newcomer('Nadia Careful')
    const { page } = nadia
    await nadia.go('#settings/account')
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
    const again = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await again.getByLabel('Current password').fill(nadia.user.password ?? '')
    await again.getByRole('button', { name: 'Continue' }).click()
    const part = page.getByRole('region', { name: 'Second factor' })
    const uri = await part.getByRole('link', { name: 'Open on this device' }).getAttribute('href')
    const secret = new URL(uri ?? '').searchParams.get('secret') ?? ''
    await part.getByRole('textbox', { name: 'Code' }).fill('000000')
    await part.getByRole('button', { name: 'Confirm' }).click()
    await expect(part.getByText('That code is wrong')).toBeVisible()
    await part.getByRole('textbox', { name: 'Code' }).fill(codeOf(secret))
    await part.getByRole('button', { name: 'Confirm' }).click()
    await expect(part.getByText('Recovery codes left: 10')).toBeVisible()
    const recovery = /(?:[A-Z2-7]{4}-){7}[A-Z2-7]{4}/.exec(await part.innerText())?.[0] ?? ''

    for (const code of [codeOf(secret, 1), recovery]) {
        await page.getByRole('button', { name: 'Sign out', exact: true }).last().click()
        await expect(page.getByRole('button', { name: 'Sign in', exact: true })).toBeVisible()
        await page.getByLabel('Email').fill(nadia.user.email)
        await page.getByLabel('Password', { exact: true }).fill(nadia.user.password ?? '')
        await page.getByRole('button', { name: 'Sign in', exact: true }).click()
        await page.getByRole('textbox', { name: 'Code' }).fill(code)
        await page.getByRole('button', { name: 'Sign in', exact: true }).click()
        await nadia.go('#settings/account')
        await expect(part.getByText('Signing in takes a code')).toBeVisible()
    }
    await expect(part.getByText('Recovery codes left: 9')).toBeVisible()
})

test('everything else ends with the password, and only this browser stays', async ({ newcomer }) => {
    const noor = await newcomer('Noor Everywhere')
    const { page, context } = noor
    const elsewhere = await context.browser()!.newContext({ baseURL: noor.dev.url })
    const form = { username: noor.user.email, password: noor.user.password ?? '' }
    expect((await elsewhere.request.post('/api/v1/sessions', { form })).ok()).toBe(true)
    await noor.go('#settings/devices')
    const browsers = page.getByRole('region', { name: 'Where you’re signed in' })
    await expect(browsers.getByRole('listitem')).toHaveCount(2)
    await expect(browsers.getByText('127.0.0.1').first()).toBeVisible()
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    const again = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await again.getByLabel('Current password').fill(noor.user.password ?? '')
    await again.getByRole('button', { name: 'Continue' }).click()
    await expect(browsers.getByRole('listitem')).toHaveCount(1)
    expect((await elsewhere.request.get('/api/v1/users/me')).status()).toBe(401)
    await elsewhere.close()
})

test('who has no password here proves who they are at their provider, and comes back to the page', async ({
    newcomer,
    request,
}) => {
    const orla = await newcomer('Orla Elsewhere')
    const { page, dev, user } = orla
    await orla.go('#settings/devices')
    const mine = `user_id = (select id from account where email = '${user.email}')`
    await runStatement(dev, `update account set password_hash = null where email = '${user.email}'`)
    await runStatement(dev, `update browser_session set created = now() - interval '1 hour' where ${mine}`)
    const subject = unique('orla')
    const told = { email: user.email, email_verified: true, name: 'Orla Elsewhere' }
    await request.put(`${dev.provider}/users/${subject}`, { data: told })

    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    const again = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await expect(again.getByText('You’ll come back to this page')).toBeVisible()
    await again.getByRole('button', { name: 'Continue with Example' }).click()
    await expect(page).toHaveURL(/prompt=login/)
    await page.getByPlaceholder('sub').fill(subject)
    await page.getByRole('button', { name: 'Authorize' }).click()
    await expect(page).toHaveURL(`${dev.url}/#settings/devices`)
    await page.getByRole('button', { name: 'Sign out everywhere else' }).click()
    await expect(page.getByText('You’re only signed in here now.')).toBeVisible()
})
