"""Pure decisions about channels."""

from tertulia.channels.model import Channel
from tertulia.kernel.errors import Refusal
from tertulia.kernel.text import bad_character as bad_character
from tertulia.kernel.text import name_key_of as name_key_of
from tertulia.realms.limits import MAX_CHANNEL_NAME_LENGTH


def may_read(channel: Channel, *, is_guest: bool) -> bool:
    """Whether a user has access to what is said in the channel."""
    return channel.is_subscribed or channel.is_web_public or (channel.is_public and not is_guest)


def may_send(channel: Channel, *, is_guest: bool) -> bool:
    """Whether a user may send to the channel. The sending statement asks the same again under its locks."""
    is_inside = channel.is_subscribed or (channel.is_public and not is_guest)
    return is_inside and channel.may_post and not channel.is_archived


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
