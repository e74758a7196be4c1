"""The default channels: whoever joins the organization, and is no guest and no bot, is subscribed to them."""

from collections.abc import Sequence

from tertulia.content.markup.writing import Mention, worded
from tertulia.conversations.channels import events, statements
from tertulia.conversations.channels.actions.membership import subscribe
from tertulia.conversations.channels.words import words_of
from tertulia.kernel.db import Transaction
from tertulia.organization import audit_log
from tertulia.organization.audit_log import Act, note
from tertulia.organization.notices import Notice, tell
from tertulia.organization.realms.queries import get_realm
from tertulia.organization.realms.settings import NO_CHANNEL


async def add_default(tx: Transaction, realm_id: int, channel_id: int) -> None:
    """Add a default channel: whoever joins the organization is subscribed to it."""
    if await statements.insert_default(tx, realm_id, channel_id):
        note(tx, realm_id, Act.CHANNEL_CHANGED, audit_log.channel(channel_id), is_default=(False, True))
        events.tell_defaults(tx, realm_id, await statements.default_channels(tx, realm_id))


async def remove_default(tx: Transaction, realm_id: int, channel_id: int) -> None:
    """Newcomers are not subscribed to this channel any more."""
    if await statements.delete_default(tx, channel_id):
        note(tx, realm_id, Act.CHANNEL_CHANGED, audit_log.channel(channel_id), is_default=(True, False))
        events.tell_defaults(tx, realm_id, await statements.default_channels(tx, realm_id))


async def hold_defaults(tx: Transaction, realm_id: int) -> list[int]:
    """The default channels. None of them changes until the commit. Before any account is locked or made."""
    asked = await statements.default_channels(tx, realm_id)
    if not asked:
        return []
    await statements.lock_conversations(tx, asked)
    still = set(await statements.default_channels(tx, realm_id))
    return [channel for channel in asked if channel in still]


async def welcome(tx: Transaction, realm_id: int, user_id: int, channels: Sequence[int]) -> None:
    """Subscribe a newcomer to channels that are held, and say in the channel for that who has joined."""
    if channels:
        await subscribe(tx, realm_id, channels, [user_id])
    settings = (await get_realm(tx, realm_id)).settings
    channel_id, words = settings.signup_announcements_stream_id, words_of(settings.default_language)
    if channel_id != NO_CHANNEL:
        name = await statements.name_of(tx, user_id)
        text = worded(words.joined, who=Mention(user_id, name))
        await tell(tx, realm_id, [Notice(text, channel_id=channel_id, topic=words.signups)])
