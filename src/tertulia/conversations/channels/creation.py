"""New channels as somebody wants them, and whether they may have them (pure)."""

import re
from typing import Annotated, Any

import msgspec

from tertulia.kernel.bounds import LONGEST_RETENTION
from tertulia.kernel.errors import Refusal
from tertulia.kernel.params import Wire, decode_json
from tertulia.organization.groups.values import GroupValue
from tertulia.organization.realms.limits import MAX_CHANNEL_DESCRIPTION_LENGTH

FOREVER = -1
TOPICS_POLICIES = ("inherit", "allow_empty_topic", "disable_empty_topic", "empty_topic_only")


class ChannelRequest(msgspec.Struct, frozen=True):
    """A channel somebody names. The description is for a new one; the colour is the subscribers'."""

    name: str
    description: str = ""
    color: str | None = None


class NewChannel(msgspec.Struct, frozen=True, kw_only=True):
    """What new channels of one call are to be. The settings are those that differ from the defaults."""

    invite_only: bool = False
    is_web_public: bool = False
    is_default: bool = False
    history_public_to_subscribers: bool | None = None
    retention_days: int | None = None
    """None: as the organization; -1: messages are never deleted."""
    topics_policy: str = "inherit"
    folder_id: int | None = None
    settings: dict[str, GroupValue] = {}

    @property
    def shares_history(self) -> bool:
        """Whether new subscribers see what was said before: always in public channels."""
        return not self.invite_only or bool(self.history_public_to_subscribers)


def check_combination(new: NewChannel) -> None:
    """Refuse what does not go together."""
    if new.is_web_public and new.invite_only:
        raise Refusal("A channel can't be private and open to the web.")
    if new.is_default and new.invite_only:
        raise Refusal("A default channel can't be private.")


def clean_description(text: str) -> str:
    """A channel's description as it is stored: one line."""
    text = text.strip()
    if len(text) > MAX_CHANNEL_DESCRIPTION_LENGTH:
        raise Refusal(f"description is too long (limit: {MAX_CHANNEL_DESCRIPTION_LENGTH} characters)")
    if "\0" in text:
        raise Refusal("A description can't contain null bytes.")
    return re.sub(r"\r\n|\r|\n", " ", text)


def parse_topics_policy(value: Any) -> str:
    """One of the four words, bare or with the quotes of JSON."""
    word = value.strip('"') if isinstance(value, str) else value
    if word not in TOPICS_POLICIES:
        raise ValueError("is not one of " + ", ".join(TOPICS_POLICIES))
    return str(word)


def parse_retention(value: Any) -> int | str:
    """Days, or the words `realm_default` and `unlimited`, bare or with the quotes of JSON."""
    if isinstance(value, str):
        word = value.strip('"')
        if word in ("realm_default", "unlimited"):
            return word
        value = decode_json(value)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= LONGEST_RETENTION:
        raise ValueError("is neither a number of days nor realm_default or unlimited")
    return value


def retention_days(value: int | str | None) -> int | None:
    """The stored form of what `parse_retention` gives."""
    if isinstance(value, str):
        return FOREVER if value == "unlimited" else None
    return value


_DAYS = {"type": "integer", "minimum": 1, "maximum": LONGEST_RETENTION}
TopicsPolicy = Annotated[str, Wire(parse_topics_policy, {"type": "string", "enum": list(TOPICS_POLICIES)})]
Retention = Annotated[
    int | str,
    Wire(parse_retention, {"anyOf": [_DAYS, {"enum": ["realm_default", "unlimited"]}]}),
]
