"""Endpoints of the bots feature."""

from typing import Annotated, Any, Literal

import msgspec

from tertulia.content.pictures.receiving import BODY_LIMIT
from tertulia.content.storage import Store
from tertulia.kernel.auth import BotType, HumanMember, RoleNumber
from tertulia.kernel.db import Database, Reader, Transaction
from tertulia.kernel.endpoint import Call, Wire, delete, get, patch, post
from tertulia.people.avatars import avatar_if_any
from tertulia.people.bots import actions, queries
from tertulia.people.bots.actions import BotChanges, BotRequest
from tertulia.people.bots.defaults import ChannelHolder, Defaults, hold_defaults
from tertulia.people.bots.model import ChangedBot, NewBot, OwnBot
from tertulia.people.users.assertion import Assertion
from tertulia.people.users.handover import BotHandover
from tertulia.people.users.notices import tell_owner
from tertulia.people.users.reauthentication import Proof, Reauthentication

Interface = Literal[1, 2]


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


@post("/bots", body_limit=BODY_LIMIT, takes_files=True)
async def create_bot(
    caller: HumanMember,
    call: Call,
    database: Database,
    store: Store,
    channels: ChannelHolder,
    again: Reauthentication,
    *,
    full_name: str,
    short_name: str,
    bot_type: int = BotType.GENERIC.value,
    payload_url: Url | None = None,
    interface_type: Interface = 1,
    default_sending_stream: str | None = None,
    default_events_register_stream: str | None = None,
    default_all_public_streams: bool | None = None,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> NewBot:
    """Make a bot of your own; its address is the short name, `-bot`, and the domain in `realm_bot_domain`.

    Types: 1 generic, 2 incoming webhook (it may only send), 3 outgoing webhook (needs `payload_url`). A file of a multipart
    request is its avatar. A browser's session has to send the password, because the bot's key outlives it.
    """
    await again.check_session(caller, call, Proof(password, code, passkey))
    wanted = Defaults(default_sending_stream, default_events_register_stream, default_all_public_streams)
    async with avatar_if_any(call, database, store, caller.realm_id) as avatar, database.transaction() as tx:
        draft = BotRequest(full_name, short_name, bot_type, payload_url, interface_type, avatar)
        held = await hold_defaults(tx, caller, channels, wanted)
        made = await actions.create_bot(tx, caller, draft, held)
        if call.by_session:
            await tell_owner(tx, caller.realm_id, made.user_id, "owner")
        return made


@get("/bots")
async def get_bots(caller: HumanMember, reader: Reader) -> Bots:
    """Your own active bots. Their keys cannot be shown, because only digests are stored: `api_key` is null."""
    return Bots(await queries.active_bots_of(reader, caller.user_id))


@patch("/bots/{bot_id}", body_limit=BODY_LIMIT, takes_files=True)
async def change_bot(
    caller: HumanMember,
    call: Call,
    database: Database,
    store: Store,
    channels: ChannelHolder,
    handover: BotHandover,
    again: Reauthentication,
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
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> ChangedBot:
    """Change a bot, as its owner or as an administrator; only administrators change its role.

    A role is at most that of the bot's owner, and a bot of an owner of the organization is changed by owners only. Where the
    bot sends what it hears (`service_payload_url`) only its own owner says. With another owner the bot's API keys and event
    queues end, it leaves private channels that the new owner cannot read, and sees no older direct messages. Unless an
    administrator gives it, it also forgets where it sends what it hears. The new owner is told.
    A new short name is a new address; the bot's keys stay valid. Default channels are given by name; an empty name: none.
    A file of a multipart request is its new avatar. A browser's session has to send the password for a role, another owner and
    `service_payload_url`, because what the bot may do, whose it is, and where it tells what it hears, outlives the session.
    """
    if role is not None or bot_owner_id is not None or service_payload_url is not None:
        await again.check_session(caller, call, Proof(password, code, passkey))
    wanted = Defaults(default_sending_stream, default_events_register_stream, default_all_public_streams)
    async with avatar_if_any(call, database, store, caller.realm_id) as avatar, database.transaction() as tx:
        held = await hold_defaults(tx, caller, channels, wanted)
        changes = BotChanges(
            full_name, role, bot_owner_id, service_payload_url, service_interface, short_name, held, avatar
        )
        return await actions.change_bot(tx, caller, bot_id, changes, handover)


@delete("/bots/{bot_id}")
async def deactivate_bot(caller: HumanMember, tx: Transaction, *, bot_id: int) -> None:
    """Deactivate a bot, as its owner or as an administrator."""
    await actions.deactivate_bot(tx, caller, bot_id)


@get("/bots/{bot_id}/api_key")
async def get_bot_api_key(caller: HumanMember, tx: Transaction, *, bot_id: int) -> None:
    """Refused: a key is shown once, when it is made. POST /bots/{bot_id}/api_key/regenerate makes a new one."""
    raise await actions.refuse_key(tx, caller, bot_id)


@post("/bots/{bot_id}/api_key/regenerate")
async def regenerate_bot_api_key(
    caller: HumanMember,
    call: Call,
    database: Database,
    again: Reauthentication,
    *,
    bot_id: int,
    password: str | None = None,
    code: str | None = None,
    passkey: Assertion | None = None,
) -> BotKey:
    """Make a new API key of a bot of your own; all its earlier keys are revoked at once.

    Administrators get no keys of bots that are not theirs. The owner is told of each new key by the notification bot.
    A browser's session has to send the password, because a key outlives the session.
    """
    await again.check_session(caller, call, Proof(password, code, passkey))
    async with database.transaction() as tx:
        return BotKey(await actions.regenerate_key(tx, caller, bot_id))
