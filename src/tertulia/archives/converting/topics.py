"""Topics from threads: what a thread is about becomes a topic of its own, and the message that began it leads there."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from tertulia.archives.converting import markdown
from tertulia.archives.converting.names import MOST_TOPIC, UniqueNames
from tertulia.archives.converting.shelf import NOTICE_PART, Shelf, Shelved, Thread
from tertulia.archives.converting.tree import Block, Inline, Mention, MessageLink, Paragraph, Quote, Text

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EXCERPT = 200


class MadeTopic(NamedTuple):
    """A topic of the archive. `replies`: none of the one for what is in no thread."""

    id: int
    name: str
    replies: int = 0


def time_of(microseconds: int) -> datetime:
    """Exact, which a float would not be."""
    return EPOCH + timedelta(microseconds=microseconds)


class Topics:
    """Those of all channels, by channel and thread."""

    def __init__(
        self, shelf: Shelf, main_name: str, speaker: int, named: Mapping[tuple[int, int], str] | None = None
    ) -> None:
        """`speaker`: who says where a thread began. `named`: what threads are called that have a name of their own."""
        self._shelf = shelf
        self._named = named or {}
        self._main_name = main_name
        self._speaker = speaker
        self.made: dict[tuple[int, int], MadeTopic] = {}

    def make(self, channel_id: int) -> None:
        """Those of a channel. What opens a thread's topic is put on the shelf, so ids are given afterwards."""
        names = UniqueNames(MOST_TOPIC)
        self._add(channel_id, 0, names.take(self._main_name, "chat"))
        for thread in self._shelf.threads(channel_id):
            beginning = self._shelf.beginning(channel_id, thread.began)
            words = self._named.get((channel_id, thread.began)) or (beginning[3] if beginning else "")
            name = names.take(words, f"Thread of {time_of(thread.began):%Y-%m-%d %H:%M}")
            self._add(channel_id, thread.began, name, thread.replies)
            is_inside = beginning is not None and beginning[2] == thread.began
            is_told = beginning is None and (channel_id, thread.began) in self._named
            if not is_inside and not is_told:
                self._open(channel_id, thread, beginning)

    def _add(self, channel_id: int, thread: int, name: str, replies: int = 0) -> None:
        self.made[channel_id, thread] = MadeTopic(len(self.made) + 1, name, replies)

    def _open(self, channel_id: int, thread: Thread, beginning: tuple[int, int, int, str] | None) -> None:
        """A thread's topic begins with what it is about."""
        blocks: list[Block]
        if beginning is None:
            blocks = [Paragraph([Text("The message that began this thread is not in the export.", italic=True)])]
            sent, place, part = thread.first, -1, 0
        else:
            sender, place, _, words = beginning
            said: list[Inline] = [
                Mention(sender, silent=True),
                Text(" "),
                MessageLink(channel_id, thread.began, "", "wrote"),
            ]
            blocks = [Paragraph([*said, Text(":")]), *([Quote([Paragraph([Text(words)])])] if words else [])]
            sent, part = thread.began, NOTICE_PART
        [content] = markdown.write(blocks)
        notice = Shelved(channel_id, 0, sent, place, part, thread.began, self._speaker, content)
        self._shelf.add(notice, ())
