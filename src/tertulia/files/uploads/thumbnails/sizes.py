"""Thumbnails of pictures: which there are, and what they are called (pure)."""

import msgspec

from tertulia.files.uploads.model import StoredFile, Thumbnail


class ThumbnailFormat(msgspec.Struct, frozen=True):
    """A size that pictures are shown in."""

    name: str
    max_width: int
    max_height: int
    format: str
    animated: bool


STILL = ThumbnailFormat("840x560.webp", 840, 560, "webp", animated=False)
MOVING = ThumbnailFormat("840x560-anim.webp", 840, 560, "webp", animated=True)
FORMATS = (MOVING, STILL)


def thumbnail_key(key: str, form: ThumbnailFormat) -> str:
    """Of the object."""
    return f"{key}-{form.name}"


def original_key(key: str) -> str:
    """Of the picture whose thumbnail this object is; of anything else the key itself."""
    for form in FORMATS:
        if key.endswith(f"-{form.name}"):
            return key.removesuffix(f"-{form.name}")
    return key


def thumbnail_keys(file: StoredFile) -> list[str]:
    """Every object that was made of a picture, for whoever deletes it. What is being made is its maker's, who has announced it:
    were it swept before it is written, nobody would know of it if the maker died right after."""
    return [thumbnail_key(file.key, form) for form in FORMATS] if file.thumbnail == Thumbnail.READY else []


def thumbnail_url(path: str, form: ThumbnailFormat) -> str:
    """The address of a thumbnail; `path` as it is in the file's own address."""
    return f"/user_uploads/thumbnail/{path}/{form.name}"
