// @vitest-environment happy-dom
import { expect, it, vi } from 'vitest'
import { install, installWay, listenForInstall } from './install.svelte'

it('asks by the offer of the browser, once', async () => {
    listenForInstall(window)
    expect(installWay()).toBeNull()
    const prompt = vi.fn(async () => ({}))
    const offer = Object.assign(new Event('beforeinstallprompt', { cancelable: true }), { prompt })
    window.dispatchEvent(offer)
    expect(offer.defaultPrevented).toBe(true)
    expect(installWay()).toBe('ask')
    await install()
    expect(prompt).toHaveBeenCalledOnce()
    expect(installWay()).toBeNull()
})

it('says how it is done on an iPhone, and nothing in what is installed there', () => {
    Object.defineProperty(navigator, 'standalone', { value: false, configurable: true })
    expect(installWay()).toBe('byHand')
    Object.defineProperty(navigator, 'standalone', { value: true, configurable: true })
    expect(installWay()).toBeNull()
})
