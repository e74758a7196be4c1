/** Passkeys with the authenticator that Chromium itself brings for tests: keys, signatures and origins are the browser's own. */
import type { Page } from '@playwright/test'
import { expect, test } from './people'

/** An authenticator in this page's browser that asks for a PIN and gets it. */
async function plugIn(page: Page) {
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('WebAuthn.enable')
    const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
        options: {
            protocol: 'ctap2',
            transport: 'internal',
            hasResidentKey: true,
            hasUserVerification: true,
            isUserVerified: true,
            automaticPresenceSimulation: true,
        },
    })
    return async (isUserVerified: boolean) =>
        devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified })
}

test('a passkey is added with the password, signs in without it, proves who is there, and is removed', async ({
    newcomer,
}) => {
    const nuria = await newcomer('Nuria Keyring')
    const { page } = nuria
    const verify = await plugIn(page)
    await nuria.go('#settings/account')
    const part = page.getByRole('region', { name: 'Passkeys' })
    await expect(part.getByText('No passkeys yet')).toBeVisible()
    await part.getByLabel('Name').fill('My laptop')
    await part.getByRole('button', { name: 'Add a passkey' }).click()
    const again = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await again.getByLabel('Current password').fill(nuria.user.password ?? '')
    await again.getByRole('button', { name: 'Continue' }).click()
    await expect(part.getByRole('listitem')).toContainText('My laptop')
    await expect(page.getByText('Recovery codes left: 10')).toBeVisible()

    // Without a password.
    const signOut = page.getByRole('button', { name: 'Sign out', exact: true }).last()
    const byPasskey = page.getByRole('button', { name: 'Sign in with a passkey' })
    await signOut.click()
    await verify(false)
    await byPasskey.click()
    await expect(page.getByRole('alert')).toContainText('No passkey')
    await verify(true)
    await byPasskey.click()
    await nuria.go('#settings/account')
    await expect(part.getByText('My laptop')).toBeVisible()

    // As the second step after the password.
    await signOut.click()
    await expect(byPasskey).toBeVisible()
    await page.getByLabel('Email').fill(nuria.user.email)
    await page.getByLabel('Password', { exact: true }).fill(nuria.user.password ?? '')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await nuria.go('#settings/account')

    await part.getByRole('button', { name: 'Rename My laptop' }).click()
    await part.getByLabel('Name').fill('Old laptop')
    await part.getByRole('button', { name: 'Save' }).click()
    await part.getByRole('button', { name: 'Remove Old laptop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await again.getByRole('button', { name: 'Use a passkey' }).click()
    await expect(part.getByText('No passkeys yet')).toBeVisible()
    await expect(page.getByText('Recovery codes left')).toBeHidden()
})

test('the secret of an authenticator is drawn as a QR code on the page itself', async ({ newcomer }) => {
    const nils = await newcomer('Nils Camera')
    const { page } = nils
    await nils.go('#settings/account')
    await page.getByRole('button', { name: 'Set up an authenticator app' }).click()
    const again = page.getByRole('dialog', { name: 'Confirm it’s you' })
    await again.getByLabel('Current password').fill(nils.user.password ?? '')
    await again.getByRole('button', { name: 'Continue' }).click()
    const code = page.getByRole('img', { name: 'QR code for your authenticator app' })
    await expect(code).toBeVisible()
    await expect(code.locator('path')).toHaveAttribute('d', /^(M\d+ \d+h1v1h-1z){200,}$/)
})

test('an owner says who needs a second factor, and how long there is for it', async ({ newcomer }) => {
    const [olga, ada] = [await newcomer('Olga Owner', { role: 100 }), await newcomer('Ada Admin', { role: 200 })]
    const rule = (of: typeof olga) => of.page.getByLabel('Who needs a second factor')
    await olga.go('#organization/general')
    await ada.go('#organization/general')
    await expect(rule(ada)).toBeDisabled()
    try {
        await rule(olga).selectOption('Owners and administrators')
        await olga.page.getByLabel('Time to set it up').selectOption('30 days')
        await expect(rule(ada)).toHaveValue('Owners and administrators')
        await expect(ada.page.getByLabel('Time to set it up')).toHaveValue('30 days')
    } finally {
        await olga.call('PATCH', 'realm', { second_factor_rule: 'nobody', second_factor_grace_days: 14 })
    }
})
