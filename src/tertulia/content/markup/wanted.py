"""Which names and ids a text could refer to, in one cheap pass, so that one query can load them all."""

import re

from tertulia.content.markup.model import WantedNames
from tertulia.kernel.text import name_key_of

_PERSON = re.compile(r"@_?\*\*([^*\n|]*)(?:\|(\d{1,18}))?\*\*")
_GROUP = re.compile(r"@_?\*([^*\n]+)\*(?!\*)")
_CHANNEL = re.compile(r"#\*\*([^*\n>]+)(>[^*\n]*)?\*\*")
_EMOJI = re.compile(r":([0-9a-z_+-]+)(?=:)")
_UPLOAD = re.compile(r"user_uploads/(\d+/[^\s()\[\]<>\"'?#]+)")
_MESSAGE_ID = re.compile(r"@\d+\Z")

WILDCARDS = frozenset({"all", "everyone", "channel", "stream"})
TOPIC_WILDCARD = "topic"
NOTHING = WantedNames()


def wanted(content: str) -> WantedNames:
    """What has to be looked up before the text can be rendered; false (as a truth value) when nothing has to be."""
    has_people = "@" in content
    has_channels = "#**" in content
    has_colon = ":" in content
    has_uploads = "user_uploads/" in content
    if not (has_people or has_channels or has_colon or has_uploads):
        return NOTHING
    names: set[str] = set()
    ids: set[int] = set()
    groups: frozenset[str] = frozenset()
    if has_people:
        for name, id in _PERSON.findall(content):
            if id:
                ids.add(int(id))
            elif name and name not in WILDCARDS and name != TOPIC_WILDCARD:
                names.add(name.lower())
        groups = frozenset(_GROUP.findall(content))
    channels, topics = _channels(content) if has_channels else (frozenset[str](), frozenset[tuple[str, str]]())
    return WantedNames(
        person_names=frozenset(names),
        person_ids=frozenset(ids),
        group_names=groups,
        channel_names=channels,
        topics=topics,
        emoji_names=frozenset(_EMOJI.findall(content)) if has_colon else frozenset(),
        upload_paths=frozenset(_upload_paths(content)) if has_uploads else frozenset(),
    )


def _channels(content: str) -> tuple[frozenset[str], frozenset[tuple[str, str]]]:
    found = _CHANNEL.findall(content)
    return (
        frozenset(name for name, _ in found),
        frozenset((name, name_key_of(topic[1:])) for name, topic in found if topic and not _MESSAGE_ID.search(topic)),
    )


def _upload_paths(content: str) -> list[str]:
    return [path.rstrip(".,:;!?") for path in _UPLOAD.findall(content)]
