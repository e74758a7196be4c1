/** What a click inside the HTML of messages does, handled once for the whole list (see content.ts for the marks). */
import { t } from '../words/words.svelte'

export interface ClickActions {
    view(address: string, from: Element): void
    openPerson(id: number, anchor: Element): void
    removePreview(messageId: number, address: string): void
}

/** What is a button by its role alone is pressed as every button is. */
export function handlePress(event: KeyboardEvent, actions: ClickActions): void {
    if (event.key !== 'Enter' && event.key !== ' ') return
    if (!(event.target as Element).matches('[role=button]')) return
    event.preventDefault()
    handleClick(event, actions)
}

export function handleClick(event: Event, actions: ClickActions): void {
    const target = event.target
    if (!(target instanceof Element) || (event instanceof MouseEvent && event.button !== 0)) return
    const copy = target.closest<HTMLElement>('[data-copy]')
    if (copy) return void copyCode(copy)
    const spoiler = target.closest('[data-spoiler]')
    if (spoiler) return toggleSpoiler(spoiler)
    const unwanted = target.closest<HTMLElement>('[data-unpreview]')
    if (unwanted) {
        const id = Number(unwanted.closest<HTMLElement>('[data-message]')?.dataset['message'])
        if (id) actions.removePreview(id, unwanted.dataset['unpreview'] ?? '')
        return
    }
    const picture = target.closest<HTMLElement>('[data-view]')
    if (picture && picture.querySelector('img, video') === null && picture.tagName !== 'IMG') return
    if (picture && !(event instanceof MouseEvent && (event.metaKey || event.ctrlKey))) {
        event.preventDefault()
        return actions.view(picture.dataset['view'] ?? '', picture)
    }
    const mention = target.closest('.user-mention[data-user-id]')
    const id = Number(mention?.getAttribute('data-user-id'))
    if (mention && id) actions.openPerson(id, mention)
}

async function copyCode(button: HTMLElement): Promise<void> {
    const code = button.closest('.codehilite')?.querySelector('code')
    try {
        await navigator.clipboard.writeText(code?.textContent ?? '')
    } catch {
        return
    }
    button.textContent = t('message.copied')
    setTimeout(() => (button.textContent = t('message.copy')), 1600)
}

function toggleSpoiler(button: Element): void {
    const open = button.getAttribute('aria-expanded') !== 'true'
    button.setAttribute('aria-expanded', String(open))
    button.parentElement?.querySelector(':scope > .spoiler-content')?.toggleAttribute('hidden', !open)
}
