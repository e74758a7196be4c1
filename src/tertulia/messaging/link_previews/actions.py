"""Which messages wait for previews: asked for when they are sent, and anew when their text changes."""

from collections.abc import Sequence

import msgspec

from tertulia.content.markup.embeds import carried_over, embeds_in
from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Transaction
from tertulia.kernel.settings import Settings
from tertulia.messaging.link_previews import queries
from tertulia.messaging.link_previews.model import Link
from tertulia.messaging.reading.access import Reached
from tertulia.messaging.sending.model import Composed, Outgoing
from tertulia.organization.realms.settings import settings_of


class PreviewRecorder:
    """A side effect of sending: nothing, but for people's messages with links in organizations that want previews."""

    def __init__(self, settings: Settings) -> None:
        self._is_allowed = settings.link_previews

    async def __call__(self, tx: Transaction, sent: Sequence[tuple[int, Outgoing]]) -> None:
        """Write down what these messages wait for."""
        links = [
            Link(message_id, message.sender.realm_id, message.sender.person_id, url)
            for message_id, message in sent
            if message.text.pages and not message.is_notice and self._is_allowed and wants_previews(message.sender)
            for url in message.text.pages
        ]
        if links:
            await queries.ask(tx, links)


def wants_previews(author: Caller) -> bool:
    """Whether there are previews below what somebody writes. Bots link much, and their readers know what."""
    return settings_of(author).inline_url_embed_preview and not author.is_bot


async def with_carried_over(tx: Transaction, caller: Caller, message: Reached, text: Composed) -> Composed:
    """A new text for a message that is held, with the previews of the old one as far as it has their links too.

    What it waits for is the new text's from now on.
    """
    before = embeds_in(message.rendered)
    if not text.pages and not before and "<a href=" not in message.rendered:
        return text  # neither text has, had or was to have any
    removed = await queries.stop_waiting(tx, message.id)
    if not wants_previews(caller):
        return text
    wanted = [url for url in text.pages if url not in removed]
    missing = [Link(message.id, message.realm_id, caller.person_id, url) for url in wanted if url not in before]
    if missing:
        await queries.ask(tx, missing)
    kept = {url: before[url] for url in wanted if url in before}
    return msgspec.structs.replace(text, html=carried_over(text.html, kept)) if kept else text
