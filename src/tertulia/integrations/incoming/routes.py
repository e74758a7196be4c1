"""The endpoint other services post to."""

from typing import Annotated

import msgspec

from tertulia.integrations.incoming.actions import check_signature, decode_payload, say, set_secret, wants
from tertulia.integrations.incoming.model import Delivery
from tertulia.integrations.incoming.refusals import UnsupportedEvent
from tertulia.integrations.incoming.table import INTEGRATIONS
from tertulia.kernel.auth import Hook, HumanMember
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.endpoint import Call, post
from tertulia.kernel.errors import not_found
from tertulia.messaging.sending.actions import Sending

MAX_PAYLOAD = 1024 * 1024
"""What services really post is smaller by far. Reading it takes a moment in which nobody else is answered."""
Secret = Annotated[str, msgspec.Meta(max_length=500)]
Patterns = Annotated[list[Annotated[str, msgspec.Meta(max_length=100)]], msgspec.Meta(max_length=100)]


class Taken(msgspec.Struct, omit_defaults=True):
    """The answer to a service; with a code if nothing was said because the event is unknown here."""

    code: str | msgspec.UnsetType = msgspec.UNSET
    webhook_name: str | msgspec.UnsetType = msgspec.UNSET
    event_type: str | msgspec.UnsetType = msgspec.UNSET


@post("/external/{integration}", raw_body=True, body_limit=MAX_PAYLOAD)
async def receive_webhook(
    bot: Hook,
    call: Call,
    sending: Sending,
    database: Database,
    *,
    integration: str,
    api_key: str,  # noqa: ARG001, read when the bot was found
    stream: str | None = None,
    topic: str | None = None,
    only_events: Patterns | None = None,
    exclude_events: Patterns | None = None,
) -> Taken:
    """Take what another service posts, and send it as a message: to the channel `stream`, or without it to the bot's owner.

    The body is whatever the service posts. `only_events` and `exclude_events` are lists of kinds of events, with `*`
    for any characters. An event that is unknown here is answered with a success and `UNSUPPORTED_WEBHOOK_EVENT_TYPE`.
    """
    chosen = INTEGRATIONS.get(integration)
    if chosen is None:
        raise not_found()
    await check_signature(database, bot, chosen, call)
    payload = decode_payload(call.body, call.header("content-type") or "")
    try:
        told = chosen.parse(Delivery(payload, dict(call.headers)))
    except UnsupportedEvent as unknown:
        return Taken("UNSUPPORTED_WEBHOOK_EVENT_TYPE", chosen.name, unknown.event[:100])
    if told is not None and wants(told.event, only_events, exclude_events):
        await say(sending, database, bot, chosen, told, stream, topic)
    return Taken()


@post("/bots/{bot_id}/webhook_secret")
async def set_webhook_secret(
    caller: HumanMember, tx: Transaction, *, bot_id: int, integration: str, secret: Secret
) -> None:
    """Set the secret that a service signs with when it posts for this bot, as its owner or as an administrator.

    From then on what is not signed with it is refused, also at the addresses of other services and at POST /messages. It cannot
    be shown again. An empty secret: none is asked for. Only incoming webhook bots have secrets.
    """
    await set_secret(tx, caller, bot_id, integration, secret)
