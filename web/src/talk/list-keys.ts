/** The keys of the list of messages: moving, and what is done with the message the keyboard is at. */
import type { Message } from '../data/message.svelte'
import type { Key } from '../ui/keys.svelte'
import type { TalkActions } from './actions.svelte'

/** What a list can be told by keys. */
export interface Moves {
    /** The message that has the focus. */
    current(): Message | undefined
    step(by: 1 | -1): void
    page(by: 1 | -1): void
    toStart(): void
    toEnd(): void
}

/** In the order of the quick reactions beside a message. */
export const QUICK_KEYS = ['1', '2', '3']

const isRow = (element: Element | null) => element?.matches('[data-message]') ?? false

export function listKeys(moves: Moves, actions: TalkActions): Key[] {
    const withCurrent = (run: (message: Message) => void) => (): boolean | void => {
        const message = moves.current()
        if (!message) return false
        run(message)
    }
    const reading: Key[] = [
        { keys: ['j', 'down'], word: 'keys.next', run: () => moves.step(1) },
        { keys: ['k', 'up'], word: 'keys.previous', run: () => moves.step(-1) },
        { keys: 'home', word: 'keys.home', run: () => moves.toStart() },
        { keys: 'end', word: 'keys.end', run: () => moves.toEnd() },
        { keys: 'pagedown', word: 'keys.page.down', run: () => moves.page(1) },
        { keys: 'pageup', word: 'keys.page.up', run: () => moves.page(-1) },
        { keys: 't', word: 'keys.topic', run: withCurrent((message) => actions.openConversation(message)) },
    ]
    if (!actions.takesPart) return reading
    const reply = withCurrent((message) => actions.reply(message))
    return [
        ...reading,
        {
            keys: ['r', 'enter'],
            word: 'keys.reply',
            // Enter on a link or a button inside a message is theirs.
            run: (event) => (event.key === 'Enter' && !isRow(document.activeElement) ? false : reply()),
        },
        { keys: 'shift+q', word: 'keys.quote', run: withCurrent((message) => void actions.quote(message)) },
        { keys: 'f', word: 'keys.forward', run: withCurrent((message) => void actions.forward(message)) },
        { keys: 's', word: 'keys.star', run: withCurrent((message) => actions.star(message)) },
        { keys: '+', word: 'keys.thumb', run: withCurrent((message) => actions.thumbsUp(message)) },
        {
            keys: QUICK_KEYS,
            word: 'keys.quick',
            run: (event) => withCurrent((message) => actions.quickReact(message, Number(event.key) - 1))(),
        },
        { keys: 'x', word: 'keys.react', run: withCurrent((message) => actions.openPicker(message)) },
        { keys: 'e', word: 'keys.edit', run: withCurrent((message) => void actions.edit(message)) },
        { keys: 'm', word: 'keys.more', run: withCurrent((message) => actions.openMenu(message)) },
        { keys: 'shift+u', word: 'keys.unread', run: withCurrent((message) => void actions.markUnread(message)) },
    ]
}
