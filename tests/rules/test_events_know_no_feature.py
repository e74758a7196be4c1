"""The event log, its relay and its queues name no feature.

The forbidden words are the names of all features, read off their folders, and words that only features have. A word is
found wherever it stands, in names, texts and comments: whoever explains the log by a feature has begun to build it in.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src" / "tertulia"
AREAS = ("messaging", "files", "conversations", "people", "organization", "notifications", "integrations")
BEYOND = {
    "alert", "avatar", "bot", "emoji", "gravatar", "mention", "spectator", "submessage", "subscriber",
    "unread", "wildcard",
}  # fmt: skip
"""Words of features that no folder is called by."""
ALLOWED = {
    "channels": "audiences name a channel, by its number: who belongs to it is kept in the queues' index",
    "users": "audiences name users, by their numbers; a queue is a user's",
    "realms": "each realm has its own log",
    "narrows": "a queue keeps its narrow, as pairs of texts; a feature's filter reads them",
    "sessions": "the relay works in sessions",
    "reading": "a log is read",
    "sending": "what a log is written by: events, commands, feedback",
    "flags": "bits of PostgreSQL's replication protocol",
    "reports": "the relay reports to the slot",
    "notices": "the verb: a departure is noticed",
    "push": "the verb: NATS pushes",
    "factors": "factories: default_factory, connection_factory",
    "beginnings": "of a log, of a poll: where it begins",
    "statuses": "a header of JetStream's answers",
}


def feature_names() -> set[str]:
    return {path.parent.name for area in AREAS for path in (ROOT / area).glob("*/__init__.py")}


def forbidden_words() -> set[str]:
    return (feature_names() - set(ALLOWED)) | BEYOND


def words_found(text: str) -> set[str]:
    """The forbidden words in a text, in any of the forms `muted`, `muted_by`, `MutedUser` and `mutes`."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text).lower()
    stems = {word: word.removesuffix("s").removesuffix("e").replace("_", "[_ ]?") for word in forbidden_words()}
    return {
        word
        for word, stem in stems.items()
        if re.search(rf"(?<![a-z]){stem}(e|y|s|d|es|ed|ing|ings|ion|ions)?(?![a-z])", plain)
    }


def test_events_name_no_feature() -> None:
    files = sorted((ROOT / "events").rglob("*.py"))
    assert files
    found = {str(path.relative_to(ROOT)): words for path in files if (words := words_found(path.read_text()))}
    assert found == {}


def test_a_planted_word_is_found_in_every_form() -> None:
    for text, word in (
        ("muted_by: tuple[int, ...] = ()", "mutes"),
        ("class MutedUser:", "mutes"),
        ("alerted = stamp.alerted", "alert"),
        ('stamp["widget_id"]', "widgets"),
        ("EMPTY_TOPIC = 1", "topics"),
        ("# when somebody reacts, a reaction is told", "reactions"),
        ("slim_presence: bool", "presence"),
        ("presence_days", "presence"),
        ('"alert_words"', "alert_words"),
        ("class AlertWord", "alert_words"),
    ):
        assert word in words_found(text), text


def test_words_that_only_look_alike_are_not_found() -> None:
    assert words_found("permute, both robots at most; a computed, statically typed utopic thing; folded") == set()


def test_what_is_allowed_is_still_a_feature_and_still_needed() -> None:
    text = "\n".join(path.read_text() for path in (ROOT / "events").rglob("*.py")).lower()
    for name in ALLOWED:
        assert name in feature_names(), f"{name} is no feature any more"
        assert name.removesuffix("es").removesuffix("s") in text, f"{name} need not be allowed any more"
