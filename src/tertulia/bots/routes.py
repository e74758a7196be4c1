"""Endpoints of the bots feature."""

from typing import Annotated, Any, Literal

import msgspec

from tertulia.avatars import avatar_if_any
from tertulia.bots import actions, queries
from tertulia.bots.actions import BotChanges, Draft
from tertulia.bots.defaults import ChannelHolder, Defaults, hold_defaults
from tertulia.bots.model import ChangedBot, NewBot, OwnBot
from tertulia.kernel.auth import HumanMember
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, Wire, delete, get, patch, post
from tertulia.pictures import BODY_LIMIT
from tertulia.storage import Store

Interface = Literal[1, 2]
RoleNumber = Literal[100, 200, 300, 400, 600]


def _url(value: Any) -> str:
    """Existing clients send a JSON string; the plain text is as good."""
    if isinstance(value, str) and value.startswith('"'):
        try:
            return msgspec.json.decode(value, type=str)
        except msgspec.DecodeError as error:
            raise ValueError("is not valid JSON") from error
    if not isinstance(value, str):
        raise ValueError("is not a string")
    return value


Url = Annotated[str, Wire(_url, {"type": "string", "format": "uri"})]


class Bots(msgspec.Struct):
    """The answer of GET /bots."""

    bots: list[OwnBot]


class BotKey(msgspec.Struct):
    """A key of a bot that was just made; it is not shown again."""

    api_key: str


@post("/bots", body_limit=BODY_LIMIT)
async def create_bot(
    caller: HumanMember,
    call: Call,
    database: Database,
    store: Store,
    channels: ChannelHolder,
    *,
    full_name: str,
    short_name: str,
    bot_type: int = 1,
    payload_url: Url | None = None,
    interface_type: Interface = 1,
    default_sending_stream: str | None = None,
    default_events_register_stream: str | None = None,
    default_all_public_streams: bool | None = None,
) -> NewBot:
    """Make a bot of your own; its address is the short name, `-bot`, and the domain in `realm_bot_domain`.

    Types: 1 generic, 2 incoming webhook (it may only send), 3 outgoing webhook (needs `payload_url`). A file of a multipart
    request is its avatar.
    """
    wanted = Defaults(default_sending_stream, default_events_register_stream, default_all_public_streams)
    async with avatar_if_any(call, database, store, caller.realm_id) as avatar, database.transaction() as tx:
        draft = Draft(full_name, short_name, bot_type, payload_url, interface_type, avatar)
        held = await hold_defaults(tx, caller, channels, wanted)
        return await actions.create_bot(tx, caller, draft, held)


@get("/bots")
async def get_bots(caller: HumanMember, reader: Reader) -> Bots:
    """Your own active bots. Their keys cannot be shown, because only digests are stored: `api_key` is null."""
    return Bots(await queries.active_bots_of(reader, caller.user_id))


@patch("/bots/{bot_id}", body_limit=BODY_LIMIT)
async def change_bot(
    caller: HumanMember,
    call: Call,
    database: Database,
    store: Store,
    channels: ChannelHolder,
    *,
    bot_id: int,
    full_name: str | None = None,
    short_name: str | None = None,
    role: RoleNumber | None = None,
    bot_owner_id: int | None = None,
    service_payload_url: Url | None = None,
    service_interface: Interface | None = None,
    default_sending_stream: str | None = None,
    default_events_register_stream: str | None = None,
    default_all_public_streams: bool | None = None,
) -> ChangedBot:
    """Change a bot, as its owner or as an administrator; only administrators change its role.

    A new short name is a new address, with which the bot's keys stay good. A default channel is named; an empty name: none.
    A file of a multipart request is its new avatar.
    """
    wanted = Defaults(default_sending_stream, default_events_register_stream, default_all_public_streams)
    async with avatar_if_any(call, database, store, caller.realm_id) as avatar, database.transaction() as tx:
        held = await hold_defaults(tx, caller, channels, wanted)
        changes = BotChanges(
            full_name, role, bot_owner_id, service_payload_url, service_interface, short_name, held, avatar
        )
        return await actions.change_bot(tx, caller, bot_id, changes)


@delete("/bots/{bot_id}")
async def deactivate_bot(caller: HumanMember, tx: Transaction, *, bot_id: int) -> None:
    """Deactivate a bot, as its owner or as an administrator."""
    await actions.deactivate_bot(tx, caller, bot_id)


@get("/bots/{bot_id}/api_key")
async def get_bot_api_key(caller: HumanMember, tx: Transaction, *, bot_id: int) -> BotKey:
    """One more key of a bot: those it has cannot be shown again, and stay good."""
    return BotKey(await actions.make_key(tx, caller, bot_id, replace=False))


@post("/bots/{bot_id}/api_key/regenerate")
async def regenerate_bot_api_key(caller: HumanMember, tx: Transaction, *, bot_id: int) -> BotKey:
    """A new key of a bot; all that it had end at once."""
    return BotKey(await actions.make_key(tx, caller, bot_id, replace=True))
