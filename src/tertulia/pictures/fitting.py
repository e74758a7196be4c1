"""Scaling pictures."""

import io
import warnings
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 50_000_000
"""Of one picture: decoded, it takes four bytes for each."""
MAX_FRAMES = 200
MAX_ALL_PIXELS = 100_000_000
"""Of all frames together."""
FORMATS = ("GIF", "JPEG", "PNG", "WEBP", "AVIF")


class NotAPicture(Exception):
    """The bytes are no picture of a known kind, or one that is too large."""


class Picture(msgspec.Struct, frozen=True):
    """A picture as it is stored."""

    data: bytes
    extension: str
    still: bytes | None = None
    """The first frame as PNG, of a picture that moves."""


def fit(data: bytes, side: int) -> Picture:
    """The picture within a square, with nothing around it; moving pictures keep moving."""
    from PIL import Image, ImageSequence, UnidentifiedImageError  # takes a while, and most processes never need it

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of crooked files; their size is looked at below
            image = Image.open(io.BytesIO(data), formats=FORMATS)
            frames = _count_frames(image)
            if frames == 1:
                return Picture(_png(_square(image, side)), "png")
            pages, delays = [], []
            for frame in ImageSequence.Iterator(image):
                pages.append(_square(frame, side))
                delays.append(max(20, int(frame.info.get("duration", 100))))
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise NotAPicture(str(error)) from None
    moving = io.BytesIO()
    pages[0].save(moving, "WEBP", save_all=True, append_images=pages[1:], duration=delays, loop=0)
    return Picture(moving.getvalue(), "webp", _png(pages[0]))


def _count_frames(image: "Image") -> int:
    """How many frames there are; refuses what is too large to be decoded."""
    frames: int = getattr(image, "n_frames", 1)
    pixels = image.width * image.height
    if pixels > MAX_PIXELS or frames > MAX_FRAMES or pixels * frames > MAX_ALL_PIXELS:
        raise NotAPicture("it is too large")
    return frames


def _square(image: "Image", side: int) -> "Image":
    from PIL import Image, ImageOps

    small = ImageOps.contain(ImageOps.exif_transpose(image).convert("RGBA"), (side, side))
    square = Image.new("RGBA", (side, side), (0, 0, 0, 0))
    square.paste(small, ((side - small.width) // 2, (side - small.height) // 2))
    return square


def _png(image: "Image") -> bytes:
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()
