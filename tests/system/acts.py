"""What people may do in the random histories (histories.py); to channels: channel_acts.py."""

from dataclasses import dataclass
from typing import NamedTuple

from tests.system.channel_acts import ChannelAct


@dataclass(frozen=True)
class Register:
    """`process` chooses among the web processes, here and below."""

    process: int
    all_public: bool = False
    empty_topic: bool = True
    archived: bool = False

    @property
    def knows(self) -> tuple[bool, bool]:
        """The capabilities: of the empty topic and inherited settings; and of archived channels, which needs the first."""
        return self.empty_topic, self.empty_topic and self.archived


@dataclass(frozen=True)
class Say:
    channel: int
    topic: str
    read: bool | None
    process: int


@dataclass(frozen=True)
class Whisper:
    to: frozenset[int]
    read: bool | None
    process: int


@dataclass(frozen=True)
class Mark:
    """Mark messages read or unread, counted from the newest that anybody sent."""

    read: bool
    messages: frozenset[int]
    process: int


@dataclass(frozen=True)
class Star:
    """Put a star or another flag on messages, or take it off, counted as in Mark."""

    flag: str
    adds: bool
    messages: frozenset[int]
    process: int


@dataclass(frozen=True)
class ReadAll:
    """Mark everything read, or a channel, or a topic of it."""

    channel: int | None
    topic: str | None
    process: int


@dataclass(frozen=True)
class Edit:
    """Change the text of a message, counted as in Mark."""

    message: int
    process: int


@dataclass(frozen=True)
class Move:
    """Move a message, or those after it, or all of its topic."""

    message: int
    topic: str | None
    channel: int | None
    mode: str
    process: int


@dataclass(frozen=True)
class Erase:
    message: int
    process: int


@dataclass(frozen=True)
class Decide:
    """Mute, unmute or follow a topic, or forget it."""

    channel: int
    topic: str
    policy: int
    process: int


@dataclass(frozen=True)
class Join:
    channels: frozenset[int]
    process: int


@dataclass(frozen=True)
class Leave:
    channels: frozenset[int]
    process: int


@dataclass(frozen=True)
class Found:
    """Make a channel of one's own."""

    private: bool
    process: int


@dataclass(frozen=True)
class Poll:
    """`client` chooses among the person's own; `lose`: the reply is lost, and asked for again elsewhere."""

    client: int
    process: int
    lose: bool = False


@dataclass(frozen=True)
class Hold:
    """A long poll that waits beside whatever the person does next."""

    client: int
    process: int


@dataclass(frozen=True)
class Invite:
    """Subscribe several people at once, from the command line, as it were."""

    people: frozenset[int]
    channels: frozenset[int]


@dataclass(frozen=True)
class Expel:
    people: frozenset[int]
    channels: frozenset[int]


@dataclass(frozen=True)
class Arrive:
    """Somebody new joins the organization."""


@dataclass(frozen=True)
class Gather:
    """Make a user group."""

    people: frozenset[int]
    process: int


@dataclass(frozen=True)
class Regroup:
    """Some come into a group, some go; `ends`: it is deactivated instead."""

    group: int
    come: frozenset[int]
    go: frozenset[int]
    ends: bool
    process: int


@dataclass(frozen=True)
class Rename:
    """The owner gives somebody another name."""

    person: int
    process: int


Act = (
    Gather
    | Regroup
    | Rename
    | Register
    | Say
    | Whisper
    | Mark
    | Star
    | ReadAll
    | Edit
    | Move
    | Erase
    | Decide
    | Join
    | Leave
    | Found
    | Poll
    | Hold
    | Invite
    | Expel
    | Arrive
    | ChannelAct
)


class History(NamedTuple):
    """One program per person; the last person is a guest."""

    programs: tuple[tuple[Act, ...], ...]
