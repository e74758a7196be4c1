"""JSON of any kind, shown as code."""

import re

import msgspec

from tertulia.integrations.incoming.model import Delivery, Post
from tertulia.integrations.incoming.wording import Room, shorten

MAX_SHOWN = 9000
_TICKS = re.compile(r"`{3,}")


def parse(delivery: Delivery) -> Post:
    """The payload, indented. Inside of code nothing means anything; the fence is longer than any in it."""
    shown = Room(MAX_SHOWN + 1).take(delivery.payload)  # one more, so that it is seen that there was more
    text = shorten(msgspec.json.format(msgspec.json.encode(shown), indent=2).decode(), MAX_SHOWN)
    fence = "`" * max((len(run) + 1 for run in _TICKS.findall(text)), default=3)
    return Post("", "JSON", f"{fence} json\n{text}\n{fence}")
