"""Scaling pictures."""

import functools
from typing import Any

import msgspec

MAX_PIXELS = 50_000_000
"""Of one picture: decoded, it takes four bytes for each."""
MAX_FRAMES = 200
MAX_ALL_PIXELS = 100_000_000
"""Of all frames together."""
_LOADERS = frozenset(f"VipsForeignLoad{kind}Buffer" for kind in ("Nsgif", "Jpeg", "Png", "Webp", "Heif"))


class NotAPicture(Exception):
    """The bytes are no picture of a known kind, or one that is too large."""


class Picture(msgspec.Struct, frozen=True):
    """A picture as it is stored."""

    data: bytes
    extension: str
    still: bytes | None = None
    """The first frame as PNG, of a picture that moves."""


def fit(data: bytes, side: int) -> Picture:
    """The picture within a square, centred on nothing around it; moving pictures keep moving."""
    vips = _vips()
    try:
        frames = _frames(vips, data)
        if frames == 1:
            return Picture(_square(vips, data, side).write_to_buffer(".png", strip=True), "png")
        pages = [_square(vips, data, side, page) for page in range(frames)]
        moving = vips.Image.arrayjoin(pages, across=1)
        moving.set_type(vips.GValue.gint_type, "page-height", side)
        delays = _delays(vips, data, frames)
        moving.set_type(vips.GValue.array_int_type, "delay", delays)
        moving.set_type(vips.GValue.gint_type, "loop", 0)
        still = pages[0].write_to_buffer(".png", strip=True)
        return Picture(moving.write_to_buffer(".webp", strip=False, effort=2), "webp", still)
    except vips.Error as error:
        raise NotAPicture(str(error)) from None


def _frames(vips: Any, data: bytes) -> int:
    """How many frames there are; refuses what is too large to be decoded."""
    if _loader_of(vips, data) not in _LOADERS:
        raise NotAPicture("it is no GIF, JPEG, PNG, WebP or AVIF")
    head = vips.Image.new_from_buffer(data, "")
    frames = head.get("n-pages") if head.get_typeof("n-pages") else 1
    pixels = head.width * head.height
    if pixels > MAX_PIXELS or frames > MAX_FRAMES or pixels * frames > MAX_ALL_PIXELS:
        raise NotAPicture("it is too large")
    return int(frames)


def _square(vips: Any, data: bytes, side: int, page: int = 0) -> Any:
    options = f"page={page}" if page else ""
    small = vips.Image.thumbnail_buffer(data, side, height=side, size="both", option_string=options)
    if small.bands in (1, 3):
        small = small.addalpha()
    return small.colourspace("srgb").gravity("centre", side, side, extend="background", background=[0, 0, 0, 0])


def _delays(vips: Any, data: bytes, frames: int) -> list[int]:
    head = vips.Image.new_from_buffer(data, "")
    found = head.get("delay") if head.get_typeof("delay") else []
    return [max(20, delay) for delay in [*found, *[100] * frames][:frames]]


def _loader_of(vips: Any, data: bytes) -> str | None:
    found = vips.vips_lib.vips_foreign_find_load_buffer(data, len(data))
    return None if found == vips.ffi.NULL else vips.ffi.string(found).decode()


@functools.cache
def _vips() -> Any:
    # Half a second to load, and most processes never need it.
    import pyvips

    pyvips.block_untrusted_set(True)
    pyvips.cache_set_max(0)
    return pyvips
