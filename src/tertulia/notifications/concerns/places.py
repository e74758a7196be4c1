"""Where a message is, as the web client's addresses have it (pure)."""

from collections.abc import Sequence

import msgspec

from tertulia.content.markup.references import encode_operand, slug


class Spot(msgspec.Struct, frozen=True):
    """A conversation, or a topic of a channel."""

    channel_id: int | None
    channel: str | None
    topic: str | None
    participants: Sequence[int] | None


def place_of(spot: Spot, user_id: int) -> str:
    """The address of a conversation for one of those who are in it: the fragment, with its sign."""
    if spot.channel_id is not None:
        return f"#narrow/channel/{slug(spot.channel_id, spot.channel or '')}/topic/{encode_operand(spot.topic or '')}"
    others = [one for one in spot.participants or () if one != user_id] or [user_id]
    return f"#narrow/dm/{','.join(map(str, others))}"
