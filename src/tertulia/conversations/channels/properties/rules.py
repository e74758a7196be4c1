"""Pure decisions about the properties of a subscription."""

import re

from tertulia.kernel.compat import old_mute_keys
from tertulia.kernel.errors import Refusal

INHERITED = {
    "desktop_notifications": "enable_stream_desktop_notifications",
    "audible_notifications": "enable_stream_audible_notifications",
    "push_notifications": "enable_stream_push_notifications",
    "email_notifications": "enable_stream_email_notifications",
    "wildcard_mentions_notify": "wildcard_mentions_notify",
}
"""Properties that may be null, and the user's own setting that counts then."""

SWITCHES = ("is_muted", "in_home_view", "pin_to_top", *INHERITED)
PROPERTIES = ("color", *SWITCHES)

_COLOR = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})")


def clean_color(color: object) -> str:
    """A colour as it is stored; refuses what is none."""
    text = color.strip().lower() if isinstance(color, str) else ""
    if not _COLOR.fullmatch(text):
        raise Refusal("color is not a hex colour such as #76ce90")
    return text if len(text) == 7 else "#" + "".join(digit * 2 for digit in text[1:])


def column_and_value(property: str, value: object) -> tuple[str, object]:
    """What is stored for a property; refuses unknown properties and values they cannot have."""
    if property not in PROPERTIES:
        raise Refusal(f"Unknown subscription property: {property}")
    if property == "color":
        return property, clean_color(value)
    if value is None and property in INHERITED:
        return property, None
    if not isinstance(value, bool):
        raise Refusal(f"{property} is not a boolean")
    return ("is_muted", not value) if property == "in_home_view" else (property, value)


def check_not_inherited(property: str, value: object) -> None:
    """Refuse null where the protocol has a boolean."""
    if value is None and property in INHERITED:
        raise Refusal(f"{property} is not a boolean")


def told(column: str, value: object) -> list[tuple[str, object]]:
    """What listeners hear of a change: muting has an old name, which is told first."""
    old = old_mute_keys(is_muted=bool(value)) if column == "is_muted" else {}
    return [*old.items(), (column, value)]
