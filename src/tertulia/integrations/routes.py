"""The endpoint other services post to."""

from typing import Annotated

import msgspec

from tertulia.integrations.actions import decode_payload, say, wants
from tertulia.integrations.model import Delivery
from tertulia.integrations.refusals import UnsupportedEvent
from tertulia.integrations.table import INTEGRATIONS
from tertulia.kernel.auth import Hook
from tertulia.kernel.db import Database
from tertulia.kernel.endpoint import Call, post
from tertulia.kernel.errors import not_found
from tertulia.messages.actions import Sending

MAX_PAYLOAD = 5 * 1024 * 1024
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
    """Say what another service posts, in a channel, or without `stream` to the bot's owner.

    The body is whatever the service posts. `only_events` and `exclude_events` are lists of kinds of events, with `*`
    for any characters. An event that is unknown here is answered with a success and `UNSUPPORTED_WEBHOOK_EVENT_TYPE`.
    """
    chosen = INTEGRATIONS.get(integration)
    if chosen is None:
        raise not_found()
    payload = decode_payload(call.body, call.header("content-type") or "")
    try:
        told = chosen.parse(Delivery(payload, dict(call.headers)))
    except UnsupportedEvent as unknown:
        return Taken("UNSUPPORTED_WEBHOOK_EVENT_TYPE", chosen.name, unknown.event[:100])
    if told is not None and wants(told.event, only_events, exclude_events):
        await say(sending, database, bot, chosen, told, stream, topic)
    return Taken()
