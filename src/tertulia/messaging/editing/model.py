"""What a caller wants changed, and what the rules need to know to allow it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

import msgspec

Propagation = Literal["change_one", "change_later", "change_all"]


class EditRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What PATCH /messages/{id} asks for; None: not asked for."""

    content: str | None = None
    topic: str | None = None
    channel_id: int | None = None
    mode: Propagation = "change_one"
    tell_old: bool = False
    tell_new: bool = True
    prev_content_sha256: str | None = None

    @property
    def is_move(self) -> bool:
        """Whether messages go elsewhere."""
        return self.topic is not None or self.channel_id is not None


class Rights(msgspec.Struct, frozen=True):
    """What a user may do to messages of a channel, or of a direct conversation, at the moment of the change."""

    role: int
    now: datetime
    is_own_bot: bool
    """The message was sent by a bot that the user owns."""
    may_move_within: bool
    may_move_out: bool
    may_resolve: bool
    may_delete_any: bool
    may_delete_own: bool


class Moving(msgspec.Struct, frozen=True):
    """A message that moves."""

    id: int
    seq: int


class FormerMentions(msgspec.Struct, frozen=True):
    """Whom a message mentioned before its text was changed."""

    message_id: int
    names: Sequence[int]
    groups: Sequence[int]
    wildcard: int
