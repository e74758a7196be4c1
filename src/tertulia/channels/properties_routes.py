"""Endpoints of what subscribers set for themselves."""

from typing import Annotated, Any

import msgspec

from tertulia.channels.properties import Wish, set_properties
from tertulia.kernel.auth import Person
from tertulia.kernel.db import Transaction
from tertulia.kernel.endpoint import Wire, decode_json, patch, post

MAX_WISHES = 5000
_VALUE = {"type": ["boolean", "string", "null"], "description": "A hex colour for `color`, else a boolean"}


class PropertyOfChannel(msgspec.Struct):
    """A property to set; null lets a notification setting follow the user's own."""

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


@post("/users/me/subscriptions/properties")
async def set_subscription_properties(
    caller: Person,
    tx: Transaction,
    *,
    subscription_data: Annotated[list[PropertyOfChannel], msgspec.Meta(max_length=MAX_WISHES)],
) -> None:
    """Set personal properties of channels you are subscribed to, all or nothing.

    `color`, `is_muted` (or its inverse `in_home_view`), `pin_to_top`, and the notification settings
    `desktop_notifications`, `audible_notifications`, `push_notifications`, `email_notifications` and
    `wildcard_mentions_notify`, which null makes follow your own settings.
    """
    wishes = [Wish(wanted.stream_id, wanted.property, wanted.value) for wanted in subscription_data]
    if wishes:
        await set_properties(tx, caller, wishes)


@patch("/users/me/subscriptions/{stream_id}")
async def set_subscription_property(
    caller: Person,
    tx: Transaction,
    *,
    stream_id: int,
    property: str,
    value: Annotated[Given, Wire(_read_value, _VALUE)],
) -> None:
    """Set one personal property of a channel you are subscribed to."""
    await set_properties(tx, caller, [Wish(stream_id, property, value.value)])
