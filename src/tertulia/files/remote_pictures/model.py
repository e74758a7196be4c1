"""What a picture from elsewhere is."""

import msgspec

from tertulia.content.markup import Fetched
from tertulia.content.markup.remote import address_of
from tertulia.files.uploads.thumbnails.sizes import MOVING, STILL, ThumbnailFormat
from tertulia.kernel.fetching import State


class Known(msgspec.Struct, frozen=True):
    """A picture as it is stored."""

    realm_id: int
    signature: str
    state: int
    key: str | None
    content_type: str
    width: int
    height: int
    frames: int

    @property
    def form(self) -> ThumbnailFormat:
        """The form in which it is shown."""
        return MOVING if self.frames > 1 else STILL

    @property
    def forms(self) -> tuple[ThumbnailFormat, ...]:
        """All forms that are kept of it."""
        return (STILL, MOVING) if self.frames > 1 else (STILL,)

    @property
    def fetched(self) -> Fetched:
        """As the markup shows it."""
        if self.state != State.READY:
            return Fetched()
        return Fetched(
            address=f"{address_of(self.realm_id, self.signature)}/{self.form.name}",
            content_type=self.content_type,
            width=self.width,
            height=self.height,
            is_animated=self.frames > 1,
        )
