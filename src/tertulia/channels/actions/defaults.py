"""The default channels, and newcomers: whoever joins the organization, and is no guest and no bot, is subscribed to them."""

from collections.abc import Sequence

from tertulia.channels import events, statements
from tertulia.channels.actions.membership import subscribe
from tertulia.kernel.db import Transaction
from tertulia.notices import Notice, tell
from tertulia.realms.queries import get_realm
from tertulia.realms.settings import NO_CHANNEL, decode_settings

SIGNUPS = "signups"


async def add_default(tx: Transaction, realm_id: int, channel_id: int) -> None:
    """Whoever comes new is subscribed to this channel as well."""
    if await statements.insert_default(tx, realm_id, channel_id):
        events.tell_defaults(tx, realm_id, await statements.default_channels(tx, realm_id))


async def remove_default(tx: Transaction, realm_id: int, channel_id: int) -> None:
    """Newcomers are not subscribed to this channel any more."""
    if await statements.delete_default(tx, channel_id):
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
    channel_id = decode_settings((await get_realm(tx, realm_id)).settings).signup_announcements_stream_id
    if channel_id != NO_CHANNEL:
        name = await statements.name_of(tx, user_id)
        content = f"@_**{name}|{user_id}** joined this organization."
        await tell(tx, realm_id, [Notice(content=content, channel_id=channel_id, topic=SIGNUPS)])
