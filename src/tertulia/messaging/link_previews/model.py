"""What a preview of a link is."""

from enum import IntEnum

import msgspec

from tertulia.content.markup import RemotePicture


class State(IntEnum):
    """How far it is."""

    WAITING = 0
    READY = 1
    GONE = 2
    """The page cannot be had, or says nothing of itself."""


class Link(msgspec.Struct, frozen=True):
    """A link of a message to a page."""

    message_id: int
    realm_id: int
    person_id: int
    """Who wrote it."""
    url: str


class Due(msgspec.Struct, frozen=True):
    """A page that is to be fetched."""

    id: int
    realm_id: int
    person: int
    """Who linked it; below zero: nobody who is still there."""
    url: str
    tries: int


class Known(msgspec.Struct, frozen=True):
    """A page that a message waits for, and what is known of it."""

    id: int
    url: str
    state: int
    title: str
    description: str
    picture_url: str
    picture_signature: str

    @property
    def picture(self) -> RemotePicture | None:
        """Its picture, which is elsewhere."""
        return RemotePicture(self.picture_signature, self.picture_url) if self.picture_url else None
