"""What there is to choose from, where a type alone cannot say it (pure)."""

import functools
import zoneinfo

from tertulia.kernel.errors import Refusal

EMOJI_SETS = [
    {"key": "google", "text": "Google"},
    {"key": "twitter", "text": "Twitter"},
    {"key": "text", "text": "Plain text"},
]
SOUNDS = ["chime"]
SILENCE = "none"
LANGUAGES = {
    "ar": "العربية",
    "be": "Беларуская",
    "bg": "Български",
    "ca": "Català",
    "cs": "Čeština",
    "cy": "Cymraeg",
    "da": "Dansk",
    "de": "Deutsch",
    "el": "Ελληνικά",
    "en": "English",
    "en-gb": "English (United Kingdom)",
    "es": "Español",
    "eu": "Euskara",
    "fa": "فارسی",
    "fi": "Suomi",
    "fr": "Français",
    "gl": "Galego",
    "gu": "ગુજરાતી",
    "he": "עברית",
    "hi": "हिन्दी",
    "hu": "Magyar",
    "id": "Bahasa Indonesia",
    "it": "Italiano",
    "ja": "日本語",
    "ko": "한국어",
    "lt": "Lietuvių",
    "lv": "Latviešu",
    "mn": "Монгол",
    "nb": "Norsk bokmål",
    "nl": "Nederlands",
    "pl": "Polski",
    "pt": "Português",
    "pt-br": "Português (Brasil)",
    "pt-pt": "Português (Portugal)",
    "ro": "Română",
    "ru": "Русский",
    "si": "සිංහල",
    "sk": "Slovenčina",
    "sr": "Српски",
    "sv": "Svenska",
    "ta": "தமிழ்",
    "tl": "Tagalog",
    "tr": "Türkçe",
    "uk": "Українська",
    "uz": "Oʻzbekcha",
    "vi": "Tiếng Việt",
    "zh-hans": "简体中文",
    "zh-hant": "繁體中文",
    "zh-tw": "繁體中文（台灣）",
}
"""Languages by their own names. Which of them a client speaks is its own affair."""


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
