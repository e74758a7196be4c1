"""Endpoints of what subscribers set for themselves."""

from typing import Annotated, Any

import msgspec

from tertulia.conversations.channels.properties.actions import PropertyChange, set_properties
from tertulia.conversations.channels.properties.rules import check_not_inherited
from tertulia.conversations.channels.rules import ChannelId, no_such_id
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import NoSuchId, Wire, decode_json, patch, post
from tertulia.kernel.errors import Refusal

MAX_WISHES = 1000
"""As many as channels in a request to subscribe: one property of each of them."""
_VALUE = {"type": ["boolean", "string", "null"], "description": "A hex colour for `color`, else a boolean"}


class PropertyOfChannel(msgspec.Struct):
    """A property to set."""

    stream_id: int
    property: str
    value: Any


class Given(msgspec.Struct, frozen=True):
    """A value that was sent, null too."""

    value: object


def _read_value(sent: object) -> Given:
    """JSON, or a bare colour."""
    if isinstance(sent, str) and not sent.startswith("#"):
        return Given(decode_json(sent))
    return Given(sent)


def _no_such_channel(sent: object) -> Refusal | None:
    named = [one.get("stream_id") for one in sent if isinstance(one, dict)] if isinstance(sent, list) else []
    return no_such_id(named)


@post("/users/me/subscriptions/properties")
async def set_subscription_properties(
    caller: Person,
    tx: Transaction,
    *,
    subscription_data: Annotated[
        list[PropertyOfChannel], msgspec.Meta(max_length=MAX_WISHES), NoSuchId(_no_such_channel)
    ],
) -> None:
    """Set personal properties of channels you are subscribed to, all or nothing.

    `color`, `is_muted` (or its inverse `in_home_view`), `pin_to_top`, and the notification settings
    `desktop_notifications`, `audible_notifications`, `push_notifications`, `email_notifications` and
    `wildcard_mentions_notify`. To have one follow your own settings again, PATCH it. Of several values for the same
    property of a channel the last one counts, and you are told of that one.
    """
    for wanted in subscription_data:
        check_not_inherited(wanted.property, wanted.value)
    changes = [PropertyChange(wanted.stream_id, wanted.property, wanted.value) for wanted in subscription_data]
    if changes:
        await set_properties(tx, caller, changes)


@patch("/users/me/subscriptions/{stream_id}")
async def set_subscription_property(
    caller: Person,
    tx: Transaction,
    *,
    stream_id: ChannelId,
    property: str,
    value: Annotated[Given, Wire(_read_value, _VALUE)],
) -> None:
    """Set one personal property of a channel you are subscribed to. null makes a notification setting follow your own."""
    await set_properties(tx, caller, [PropertyChange(stream_id, property, value.value)])
