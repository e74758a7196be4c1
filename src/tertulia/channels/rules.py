"""Pure decisions about channels."""

from tertulia.kernel.errors import Refusal
from tertulia.kernel.text import bad_character as bad_character
from tertulia.kernel.text import name_key_of as name_key_of
from tertulia.realms.limits import MAX_CHANNEL_NAME_LENGTH


def no_such_channel(named: int | str) -> Refusal:
    """The refusal for a channel that does not exist, or might as well not exist for this caller."""
    if isinstance(named, int):
        return Refusal(f"There is no channel with the ID {named}.", code="STREAM_DOES_NOT_EXIST", stream_id=named)
    return Refusal(f"There is no channel named '{named}'.", code="STREAM_DOES_NOT_EXIST", stream=named)


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
