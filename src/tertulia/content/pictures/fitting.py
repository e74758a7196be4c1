"""Scaling pictures."""

import io
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PIXELS = 50_000_000
"""Of one picture of which a thumbnail is made: decoded, it takes four bytes for each."""
MAX_DECODED = 12_000_000
"""Of a picture that is fitted while somebody waits. Measured: 145 MiB for a PNG, 240 for a WebP."""
MAX_FITTED = 25_000_000
"""As the file has it: a photograph (JPEG) may be larger than what is decoded of it."""
MAX_FRAMES = 200
MAX_ALL_PIXELS = 100_000_000
"""Of all frames together."""
MAX_SCANS = 100
"""Of one photograph. Each goes over the whole picture: ten are usual, and thousands fit into a small file."""
FORMATS = ("GIF", "JPEG", "PNG", "WEBP", "AVIF")
_SCAN = b"\xff\xda"
_PIECE = 1 << 20


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
    with opened(data, side) as image:
        if _count_frames(image) == 1:
            return Picture(write_png(_square(image, side)), "png")
        return _moving(image, side)


def cover(data: bytes, sides: Sequence[int]) -> list[bytes]:
    """The middle of the picture as a square PNG, in several sizes; of a moving one the first frame."""
    from PIL import ImageOps

    with opened(data, max(sides)) as image:
        whole = upright(image)
        return [write_png(_bare(ImageOps.fit(whole, (side, side)))) for side in sides]


def within(data: bytes, width: int, height: int) -> bytes:
    """The picture as a PNG, not larger than that; of a moving one the first frame."""
    from PIL import ImageOps

    with opened(data, max(width, height)) as image:
        whole = upright(image)
        fits = whole.width <= width and whole.height <= height
        return write_png(_bare(whole if fits else ImageOps.contain(whole, (width, height))))


@contextmanager
def opened(data: bytes, side: int) -> "Iterator[Image]":
    """A picture whose size is bearable. Whatever a crooked one makes Pillow raise: it is no picture."""
    from PIL import Image  # takes a while, and most processes never need it

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of crooked files; their size is looked at
            image = Image.open(io.BytesIO(data), formats=FORMATS)
            check_scans(image, io.BytesIO(data))
            _count_frames(image)
            # A photograph is read in a smaller size right away: no more of it is needed.
            image.draft("RGB", (2 * side, 2 * side))
            if image.width * image.height > MAX_DECODED:
                raise NotAPicture("it is too large")
            yield image
    except NotAPicture:
        raise
    except Exception as error:
        raise NotAPicture(str(error)) from None


def check_scans(image: "Image", source: IO[bytes]) -> None:
    """Refuse a photograph that goes over itself too often. What is between the marks cannot look like one; what a camera writes
    before them may, a few times."""
    if image.format not in ("JPEG", "MPO"):
        return
    scans, last = 0, b""
    while piece := source.read(_PIECE):
        scans += (last + piece).count(_SCAN)
        last = piece[-1:]
    if scans > MAX_SCANS:
        raise NotAPicture("it has too many scans")


def _moving(image: "Image", side: int) -> Picture:
    from PIL import ImageSequence

    pages, delays = [], []
    for frame in ImageSequence.Iterator(image):
        pages.append(_square(frame, side))
        delays.append(max(20, int(frame.info.get("duration", 100))))
    moving = io.BytesIO()
    pages[0].save(moving, "WEBP", save_all=True, append_images=pages[1:], duration=delays, loop=0)
    return Picture(moving.getvalue(), "webp", write_png(pages[0]))


def _count_frames(image: "Image") -> int:
    """How many frames there are; refuses what is too large to be decoded."""
    frames: int = getattr(image, "n_frames", 1)
    pixels = image.width * image.height
    if pixels > MAX_FITTED or frames > MAX_FRAMES or pixels * frames > MAX_ALL_PIXELS:
        raise NotAPicture("it is too large")
    return frames


def _square(image: "Image", side: int) -> "Image":
    from PIL import Image, ImageOps

    small = ImageOps.contain(upright(image), (side, side))
    square = Image.new("RGBA", (side, side), (0, 0, 0, 0))
    square.paste(small, ((side - small.width) // 2, (side - small.height) // 2))
    return square


def upright(image: "Image") -> "Image":
    """As the camera was held."""
    from PIL import ImageOps

    return ImageOps.exif_transpose(image).convert("RGBA")


def _bare(image: "Image") -> "Image":
    """The pixels alone, without anything else the file said."""
    from PIL import Image

    bare = Image.new("RGBA", image.size)
    bare.paste(image)
    return bare


def write_png(image: "Image") -> bytes:
    """As it is stored."""
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue()
