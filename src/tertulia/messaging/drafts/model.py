"""Drafts: as they are sent, kept and shown."""

from typing import Annotated, Literal

import msgspec

DraftType = Literal["", "stream", "private"]


class SentDraft(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A draft as a client writes it."""

    type: DraftType
    to: Annotated[list[int], msgspec.Meta(max_length=250)]
    topic: str
    content: str
    timestamp: Annotated[int, msgspec.Meta(ge=0, le=253_402_300_799)] | None = None
    """When it was last edited, UNIX seconds; the server fills it in."""


class KeptDraft(msgspec.Struct, frozen=True):
    """A draft as it is stored."""

    channel_id: int | None
    user_ids: tuple[int, ...] | None
    topic: str
    content: str
    timestamp: int | None


class Draft(msgspec.Struct, frozen=True):
    """A draft as the API shows it."""

    id: int
    type: DraftType
    to: list[int]
    topic: str
    content: str
    timestamp: int


def draft_of(id: int, kept: KeptDraft, timestamp: int) -> Draft:
    """A stored draft, shown."""
    if kept.channel_id is not None:
        return Draft(id, "stream", [kept.channel_id], kept.topic, kept.content, timestamp)
    if kept.user_ids is not None:
        return Draft(id, "private", list(kept.user_ids), "", kept.content, timestamp)
    return Draft(id, "", [], "", kept.content, timestamp)
