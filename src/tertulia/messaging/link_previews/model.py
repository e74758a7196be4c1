"""What a preview of a link is."""

import msgspec

from tertulia.content.markup import RemotePicture


class Link(msgspec.Struct, frozen=True):
    """A link of a message to a page."""

    message_id: int
    realm_id: int
    person_id: int
    """Who wrote it."""
    url: str


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
