"""What a client may say when it registers, as types."""

from typing import Annotated, Any

import msgspec

from tertulia.kernel.endpoint import Wire, decode_json

MAX_IDLE_SECONDS = 7 * 86400
MOBILE_IDLE_SECONDS = 43_200


class Capabilities(msgspec.Struct, frozen=True):
    """What a client says it understands; unknown keys are ignored."""

    notification_settings_null: bool
    bulk_message_deletion: bool = False
    user_avatar_url_field_optional: bool = False
    stream_typing_notifications: bool = False
    user_settings_object: bool = False
    linkifier_url_template: bool = False
    user_list_incomplete: bool = False
    include_deactivated_groups: bool = False
    archived_channels: bool = False
    empty_topic_name: bool = False
    simplified_presence_events: bool = False
    individual_emoji_changes: bool = False
    pinned_messages: bool = False


def idle_seconds(value: Any) -> int | None:
    """A number of seconds, or the word `mobile`, which existing clients send with quotes around it; null: not said."""
    if isinstance(value, str):
        value = "mobile" if value == "mobile" else decode_json(value)
    if value is None:
        return None
    if value == "mobile":
        return MOBILE_IDLE_SECONDS
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("is not an integer")
    if value < 1:
        raise ValueError("is too small")
    return min(value, MAX_IDLE_SECONDS)


IdleSeconds = Annotated[int, Wire(idle_seconds, {"anyOf": [{"type": "integer", "minimum": 1}, {"const": "mobile"}]})]
Days = Annotated[int, msgspec.Meta(ge=0, le=3650)]
Types = Annotated[list[Annotated[str, msgspec.Meta(max_length=100)]], msgspec.Meta(max_length=1000)]
"""What a client asks for is kept with its queue, so it has an end."""
Pair = Annotated[list[Annotated[str, msgspec.Meta(max_length=1000)]], msgspec.Meta(min_length=2, max_length=2)]
Pairs = Annotated[list[Pair], msgspec.Meta(max_length=64)]
