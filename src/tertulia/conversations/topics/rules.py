"""Pure decisions about topics."""

from tertulia.conversations.channels.rules import bad_character
from tertulia.kernel.errors import Refusal
from tertulia.organization.realms.limits import MAX_TOPIC_LENGTH
from tertulia.organization.realms.settings import RealmSettings

NO_TOPIC = "(no topic)"


def known_topic(topic: str, settings: RealmSettings) -> str:
    """The name of a topic that may exist: trimmed, the names of the empty topic become the empty string.

    There may be older ones with letters that no new one can have.
    """
    topic = topic.strip()
    if topic in (NO_TOPIC, settings.empty_topic_display_name):
        return ""
    if len(topic) > MAX_TOPIC_LENGTH:
        raise Refusal(f"The topic is too long (limit: {MAX_TOPIC_LENGTH} characters).")
    return topic


def clean_topic(topic: str, settings: RealmSettings) -> str:
    """A topic as it is stored; refused if no topic can be named so."""
    topic = known_topic(topic, settings)
    if (position := bad_character(topic)) is not None:
        raise Refusal(f"Invalid character in the topic, at position {position}.")
    return topic


def check_topic_policy(topic: str, channel_policy: str, settings: RealmSettings) -> None:
    """Refuse an empty topic where a topic is required, and a named one where there is only the empty topic."""
    policy = settings.topics_policy if channel_policy == "inherit" else channel_policy
    if policy == "disable_empty_topic" and not topic:
        raise Refusal(
            f"Messages in this channel need a topic: {settings.empty_topic_display_name} is not allowed here."
        )
    if policy == "empty_topic_only" and topic:
        raise Refusal(f"This channel has only one topic, {settings.empty_topic_display_name}.")


def shown_topic(topic: str, settings: RealmSettings, *, allow_empty: bool) -> str:
    """A stored topic as a client wants to see it."""
    return topic if topic or allow_empty else settings.empty_topic_display_name


RESOLVED = "✔ "
"""What the name of a resolved topic begins with."""


def is_resolution(old: str, new: str) -> bool:
    """Whether a new name only resolves a topic, or takes that back."""
    return new == RESOLVED + old or old == RESOLVED + new
