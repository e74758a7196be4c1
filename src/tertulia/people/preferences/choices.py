"""What there is to choose from, where a type alone cannot say it (pure)."""

import functools
import zoneinfo

from tertulia.kernel.errors import Refusal
from tertulia.organization.realms.languages import LANGUAGES

EMOJI_SETS = [
    {"key": "google", "text": "Google"},
    {"key": "twitter", "text": "Twitter"},
    {"key": "text", "text": "Plain text"},
]
SOUNDS = ["chime", "bell", "knock"]
SILENCE = "none"


def check_choices(settings: dict[str, object]) -> None:
    """Refuse values of the right type that there are not."""
    language, sound = settings.get("default_language"), settings.get("notification_sound")
    if language is not None and language not in LANGUAGES:
        raise Refusal("Invalid default_language")
    if sound is not None and sound not in (*SOUNDS, SILENCE):
        raise Refusal(f"Invalid notification sound '{sound}'")


def check_timezone(name: str) -> None:
    """Refuse what is not the name of a time zone; none at all is fine."""
    if name and name not in _timezones():
        raise Refusal("Invalid timezone: it is not a name of the IANA time zone database.")


@functools.cache
def _timezones() -> frozenset[str]:
    return frozenset(zoneinfo.available_timezones())
