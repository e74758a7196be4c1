"""A mail that came in, as far as it matters here."""

import msgspec

from tertulia.kernel.auth import Caller


class Attachment(msgspec.Struct, frozen=True):
    """A file in a mail."""

    name: str
    content: bytes


class Received(msgspec.Struct, frozen=True):
    """What a mail says."""

    message_id: str
    """As its sender's program named it; empty if it did not."""
    sender: str
    """Whom it says it is from. Anybody can write anything there."""
    subject: str
    text: str
    """All of it, with what it quotes."""
    files: tuple[Attachment, ...] = ()
    is_automatic: bool = False
    """A program sent it by itself, or a list handed it on."""


class Target(msgspec.Struct, frozen=True):
    """Where mail to an address goes, and as whom."""

    caller: Caller
    conversation_id: int
    topic: str | None
    """Of an answer in a channel."""
    participants: tuple[int, ...] | None
    """Of a direct conversation."""
    is_reply: bool
    """An answer to a mail of ours; if not, mail to a channel."""
    topics_policy: str = "inherit"
    """Of the channel."""
