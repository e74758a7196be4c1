/** What can be done to a message, and what is open because of it (picker, menu, viewer, editor, panels). One object for each
 *  talk that is shown, given to everything below it. Whatever has an answer on screen at once shows it at once
 *  (`messages.expect`); if the server refuses, it is taken back and said. */
import { createContext } from 'svelte'
import type { Emoji as ReactionEmoji, MoveMode } from '../data/acts'
import type { Answer, ApiError } from '../data/api'
import type { ApiReaction } from '../data/api-types'
import type { Message } from '../data/message.svelte'
import type { SendPlace } from '../data/outbox.svelte'
import { hashOf, type TalkPlace } from '../data/place'
import type { World } from '../data/world.svelte'
import { explain } from '../page/explain'
import { go } from '../page/route.svelte'
import { beginToWrite } from '../page/shared.svelte'
import { ask } from '../ui/asking.svelte'
import { say, sayError } from '../ui/toasts.svelte'
import { t } from '../words/words.svelte'
import type { Emoji } from '../page/emoji'
import { newCall } from './call'
import { fenceAround } from './format'

const NO_CHANNEL = -1

interface Open {
    message: Message
    anchor: Element
}

/** Messages that are about to be moved: from this one on, all of its topic, or it alone. */
export interface Moving {
    message: Message
    mode: MoveMode
    /** To a topic of their own, which has no name yet. */
    isSplit?: boolean
}

/** What the compose box lets others do with it. */
export interface Writing {
    focus(): void
    replyTo(message: Message): void
    insert(text: string): void
    /** The conversation has another name: what is on its way into its text goes along. */
    moved(from: SendPlace, to: SendPlace): void
}

export class TalkActions {
    readonly world: World
    picker: Open | null = $state.raw(null)
    menu: Open | null = $state.raw(null)
    history: Message | null = $state.raw(null)
    receipts: Message | null = $state.raw(null)
    moving: Moving | null = $state.raw(null)
    showing: Message | null = $state.raw(null)
    reporting: Message | null = $state.raw(null)
    reminding: Open | null = $state.raw(null)
    person: { id: number; anchor: Element } | null = $state.raw(null)
    viewing: { address: string; from: Element } | null = $state.raw(null)
    /** The message being edited in its place. */
    editingId: number | null = $state(null)
    editingText = $state('')
    /** The text as it was before. */
    editingBefore = ''
    /** It was begun from the compose box, and the caret goes back there. */
    editsFromWriting = false
    writing: Writing | null = null
    /** Show a message of this talk, with the keyboard at it; false: it is not here. */
    reveal: (id: number) => Promise<boolean> = async () => false
    /** The caret leaves the compose box for the messages. */
    leaveWriting: () => void = () => {}
    readonly said = say

    constructor(world: World) {
        this.world = world
    }

    /** Who only reads does nothing to messages, and is told nothing of people but what they wrote. */
    get takesPart(): boolean {
        return !this.world.isVisitor
    }

    view(address: string, from: Element): void {
        this.viewing = { address, from }
    }

    openPerson(id: number, anchor: Element): void {
        if (this.takesPart) this.person = { id, anchor }
    }

    /** The talk it belongs to, from a place that mixes several. */
    openConversation(message: Message): void {
        go({ ...message.conversation(this.world.me), near: message.id }, this.world.realm.channelName)
    }

    openPicker(message: Message, anchor: Element | null = rowOf(message)): void {
        if (anchor) this.picker = { message, anchor }
    }

    openMenu(message: Message, anchor: Element | null = rowOf(message)): void {
        if (anchor) this.menu = { message, anchor }
    }

    openReminder(message: Message, anchor: Element | null = rowOf(message)): void {
        if (anchor) this.reminding = { message, anchor }
    }

    // Reactions

    /** The quick reactions that are shown beside messages, by the message. */
    readonly quickShown = new Map<number, readonly ReactionEmoji[]>()

    /** What the reader reacts with most, as far as it can still be chosen. */
    quickReactions(most: number): readonly ReactionEmoji[] {
        const { realm, usedEmoji } = this.world
        const isThere = (emoji: ReactionEmoji) =>
            emoji.reaction_type !== 'realm_emoji' || realm.emoji.get(emoji.emoji_code)?.deactivated === false
        return usedEmoji.most.filter(isThere).slice(0, most)
    }

    /** By its place beside the message: the order there stays while one is at it. */
    quickReact(message: Message, place: number): void {
        const emoji = (this.quickShown.get(message.id) ?? this.quickReactions(place + 1))[place]
        if (emoji) this.react(message, emoji)
    }

    thumbsUp(message: Message): void {
        this.react(message, { emoji_name: '+1', emoji_code: '1f44d', reaction_type: 'unicode_emoji' })
    }

    pick(message: Message, emoji: Emoji): void {
        this.react(message, { emoji_name: emoji.name, emoji_code: emoji.code, reaction_type: emoji.type })
    }

    /** Add my reaction, or take it away if it is there. */
    react(message: Message, emoji: Omit<ApiReaction, 'user_id'>): void {
        const shown = message.reactions.find(
            (each) => each.emoji_code === emoji.emoji_code && each.reaction_type === emoji.reaction_type,
        )
        const emoji_name = shown?.emoji_name ?? emoji.emoji_name
        void this.#orSay(this.world.acts.toggleReaction(message, { ...emoji, emoji_name }))
    }

    // Flags

    star(message: Message): void {
        void this.#orSay(this.world.acts.toggleStar(message))
    }

    async markUnread(message: Message): Promise<void> {
        const done = await this.world.reads.unreadFrom(message.conversation(this.world.me), message.id)
        if (done) say(t('message.unread.done'))
        else sayError(t('error.offline'))
    }

    // Words

    reply(message: Message): void {
        this.writing?.replyTo(message)
    }

    /** Puts a link to a new call into what is being written: it is sent like any message. */
    offerCall(server: string): void {
        this.writing?.focus()
        this.writing?.insert(`[${t('call.join')}](${newCall(server)}) `)
    }

    async quote(message: Message): Promise<void> {
        const quoted = await this.#quoted(message)
        if (quoted === null) return
        this.writing?.replyTo(message)
        this.writing?.insert(quoted)
    }

    /** Quoted to somebody else: the compose box asks to whom. */
    async forward(message: Message): Promise<void> {
        const quoted = await this.#quoted(message)
        if (quoted === null) return
        beginToWrite(quoted)
        go({ kind: 'feed' })
    }

    async #quoted(message: Message): Promise<string | null> {
        const raw = await this.source(message)
        if (raw === null) return null
        const name = this.world.realm.userName(message.senderId) || message.data.sender_full_name
        const fence = fenceAround(raw)
        const said = `@_**${name}|${message.senderId}** [${t('compose.said')}](${this.#link(message)}):`
        return `${said}\n${fence}quote\n${raw}\n${fence}\n\n`
    }

    #link(message: Message): string {
        return hashOf({ ...message.conversation(this.world.me), near: message.id }, this.world.realm.channelName)
    }

    async edit(message: Message, fromWriting = false): Promise<void> {
        if (!this.mayEdit(message) || (await this.#isEditing(message.id))) return
        const raw = await this.source(message)
        if (raw === null || (await this.#isEditing(message.id))) return
        this.endEdit()
        this.editingText = this.editingBefore = raw
        this.editsFromWriting = fromWriting
        this.editingId = message.id
        message.isKept = true
    }

    endEdit(): void {
        const message = this.editingId === null ? undefined : this.world.messages.get(this.editingId)
        if (message) message.isKept = false
        this.editingId = null
    }

    /** It is open already, or another edit is that would be lost: that one is shown. */
    async #isEditing(wanted: number): Promise<boolean> {
        const id = this.editingId
        if (id === null) return false
        const other = this.world.messages.get(id)
        if (!other || (id !== wanted && !this.hasChanges)) return false
        if (id !== wanted) say(t('edit.open'))
        if (await this.reveal(id)) rowOf(other)?.querySelector('textarea')?.focus()
        else go({ ...other.conversation(this.world.me), near: id }, this.world.realm.channelName)
        return true
    }

    /** Whether the text being edited is another than before. */
    get hasChanges(): boolean {
        return this.editingText.trim() !== this.editingBefore.trim()
    }

    mayEdit(message: Message): boolean {
        if (message.senderId !== this.world.me || message.data.submessages.length > 0) return false
        if (!this.world.realm.value('realm_allow_message_editing', true)) return false
        const limit = this.world.realm.value('realm_message_content_edit_limit_seconds', null)
        return limit === null || Date.now() / 1000 - message.timestamp < limit
    }

    mayMove(message: Message): boolean {
        const channel = message.channelId === null ? undefined : this.world.realm.channels.get(message.channelId)
        if (!channel) return false
        const { realm } = this.world
        return (
            message.senderId === this.world.me ||
            realm.may(realm.value('realm_can_move_messages_between_topics_group', null)) ||
            realm.may(channel.can_move_messages_within_channel_group) ||
            realm.may(channel.can_administer_channel_group)
        )
    }

    mayDelete(message: Message): boolean {
        const { realm, me } = this.world
        const channel = message.channelId === null ? undefined : realm.channels.get(message.channelId)
        if (
            realm.may(realm.value('realm_can_delete_any_message_group', null)) ||
            realm.may(channel?.can_delete_any_message_group)
        ) {
            return true
        }
        const own =
            realm.may(realm.value('realm_can_delete_own_message_group', null)) ||
            realm.may(channel?.can_delete_own_message_group)
        const limit = realm.value('realm_message_content_delete_limit_seconds', null)
        return message.senderId === me && own && (limit === null || Date.now() / 1000 - message.timestamp < limit)
    }

    async source(message: Message): Promise<string | null> {
        const answer = await this.world.acts.textOf(message.id)
        if (answer.ok) return answer.value
        this.complain(answer.error)
        return null
    }

    copyLink(message: Message): Promise<void> {
        return this.copy(location.origin + location.pathname + this.#link(message), t('message.link.copied'))
    }

    async copyText(message: Message): Promise<void> {
        const raw = await this.source(message)
        if (raw !== null) await this.copy(raw, t('message.text.copied'))
    }

    async copy(text: string, done: string): Promise<void> {
        try {
            await navigator.clipboard.writeText(text)
            say(done)
        } catch {
            sayError(t('message.copy.refused'))
        }
    }

    /** Whether this organization has somebody to tell; one's own message one deletes. */
    mayReport(message: Message): boolean {
        return (
            message.senderId !== this.world.me &&
            this.world.realm.value('realm_moderation_request_channel_id', NO_CHANNEL) !== NO_CHANNEL
        )
    }

    get showsHistory(): boolean {
        return (
            this.takesPart && this.world.realm.value('realm_message_edit_history_visibility_policy', 'all') !== 'none'
        )
    }

    async remove(message: Message): Promise<void> {
        const isSure = await ask({
            title: t('delete.title'),
            text: t('delete.text'),
            confirm: t('message.delete'),
            danger: true,
        })
        if (isSure) void this.#orSay(this.world.acts.remove(message.id))
    }

    // Pins

    /** Whoever may write there may pin; guests do not. */
    mayPin(place: TalkPlace): boolean {
        const { realm, me } = this.world
        if (realm.users.get(me)?.is_guest !== false) return false
        if (place.kind === 'direct') return true
        const channel = place.kind === 'topic' ? realm.channels.get(place.channelId) : undefined
        return channel?.is_archived === false && realm.may(channel.can_send_message_group)
    }

    pin(messageId: number): void {
        void this.#orSay(this.world.pins.pin(messageId))
    }

    unpin(messageId: number): void {
        void this.#orSay(this.world.pins.unpin(messageId))
    }

    removePreview(messageId: number, address: string): void {
        void this.#orSay(this.world.acts.removePreview(messageId, address))
    }

    // Topics

    setTopicPolicy(channelId: number, topic: string, policy: number): void {
        void this.#orSay(this.world.acts.setTopicPolicy(channelId, topic, policy))
    }

    resolve(message: Message): void {
        void this.#orSay(this.world.acts.toggleResolved(message.id, message.topic))
    }

    // What went wrong

    complain(error: ApiError): void {
        if (error.code === 'ABORTED') return
        sayError(explain(error))
    }

    async #orSay(request: Promise<Answer<object>>): Promise<void> {
        const answer = await request
        if (!answer.ok) this.complain(answer.error)
    }
}

function rowOf(message: Message): Element | null {
    return document.querySelector(`[data-message="${message.id}"]`)
}

export const [getActions, setActions] = createContext<TalkActions>()
