"""Pure decisions about channels."""

from typing import Annotated, Any

from tertulia.kernel.endpoint import NoSuchId
from tertulia.kernel.errors import Refusal
from tertulia.kernel.json_guard import is_storable
from tertulia.kernel.text import bad_character as bad_character
from tertulia.kernel.text import name_key_of as name_key_of
from tertulia.organization.realms.limits import MAX_CHANNEL_NAME_LENGTH


def no_such_channel(named: int | str) -> Refusal:
    """The refusal for a channel that does not exist, or might as well not exist for this caller: the only one there is.

    Narrows alone have another, because the code of all that is wrong with them is BAD_NARROW.
    """
    if isinstance(named, int):
        return Refusal(f"There is no channel with the ID {named}.", code="STREAM_DOES_NOT_EXIST", stream_id=named)
    return Refusal(f"There is no channel named '{named}'.", code="STREAM_DOES_NOT_EXIST", stream=named)


def no_such_id(value: Any) -> Refusal | None:
    """The refusal for the first id that no channel can have, of a number or of a list of them."""
    ids = value if isinstance(value, list) else [value]
    return next((no_such_channel(id) for id in ids if isinstance(id, int) and not is_storable(id)), None)


ChannelId = Annotated[int, NoSuchId(no_such_id)]
"""A channel's id as a parameter: any integer, and one that no channel can have is refused as one that none has."""


def weekly_traffic(sent: int, age_days: int) -> int | None:
    """Messages per week, from how many were sent in the last 28 days; two digits of it matter. New channels: none yet."""
    if age_days < 7:
        return None
    average = sent // 4 if age_days >= 28 else sent * 7 // age_days
    if average == 0 and sent > 0:
        return 1
    digits = len(str(average))
    return average if digits <= 2 else round(average, 2 - digits)


def clean_channel_name(name: str) -> str:
    """A channel's name as it is stored; refuses what cannot be one."""
    name = name.strip()
    if not name:
        raise Refusal("A channel's name can't be empty.")
    if len(name) > MAX_CHANNEL_NAME_LENGTH:
        raise Refusal(f"A channel's name is too long (limit: {MAX_CHANNEL_NAME_LENGTH} characters).")
    if (position := bad_character(name)) is not None:
        raise Refusal(f"Invalid character in the channel's name, at position {position}.")
    return name
