/** The number of unread messages: before the title of the tab, as a mark on its icon, and on the icon of the installed client. */

const CIRCLE = { x: 46, y: 18, r: 17 }

export function titleOf(place: string, realm: string, count: number): string {
    const name = [place, realm].filter(Boolean).join(' · ')
    return count > 0 ? `(${count > 999 ? '999+' : count}) ${name}` : name
}

/** The icon as an address, with a mark when something is unread. */
export function iconOf(count: number): string {
    if (count === 0) return '/static/icon.svg'
    const text = count > 99 ? '99' : String(count)
    const svg =
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#b4502f"/>' +
        '<path d="M14 20h26v6H30v24h-7V26h-9z" fill="#fff"/>' +
        `<circle cx="${CIRCLE.x}" cy="${CIRCLE.y}" r="${CIRCLE.r}" fill="#1d5fd1"/>` +
        `<text x="${CIRCLE.x}" y="${CIRCLE.y + 8}" font-family="sans-serif" font-size="${text.length > 1 ? 20 : 24}" ` +
        `font-weight="700" text-anchor="middle" fill="#fff">${text}</text></svg>`
    return 'data:image/svg+xml,' + encodeURIComponent(svg)
}

export function showIcon(count: number): void {
    let link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (!link) {
        link = document.createElement('link')
        link.rel = 'icon'
        document.head.append(link)
    }
    const href = iconOf(count)
    if (link.getAttribute('href') !== href) link.href = href
}

/** On the icon of the installed client, where there is one. Between pushes the service worker counts (sw.js). */
export function showBadge(count: number): void {
    if ('setAppBadge' in navigator) void navigator.setAppBadge(count).catch(() => {})
}
