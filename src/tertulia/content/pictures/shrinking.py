"""The thumbnail of a picture. Runs in a process of its own (apart.py): what is read here may be made to do harm."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tertulia.content.pictures.fitting import MAX_ALL_PIXELS, MAX_FRAMES, MAX_PIXELS, NotAPicture, check_scans

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("GIF", "JPEG", "PNG", "WEBP", "AVIF", "TIFF")
QUALITY = 80


class Shrunk(NamedTuple):
    """What a picture is: its size as it is shown, and how many frames its thumbnail has."""

    width: int
    height: int
    frames: int


def shrink_file(source: Path, folder: Path, width: int, height: int) -> Shrunk:
    """Write the thumbnails of a picture."""
    from PIL import Image, ImageOps

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of crooked files; their size is looked at below
        with Image.open(source, formats=FORMATS) as image:
            if image.width * image.height > MAX_PIXELS:
                raise NotAPicture("it is too large")
            with source.open("rb") as file:
                check_scans(image, file)
            frames = _count_frames(image)
            image.draft("RGB", (width * 2, height * 2))  # a JPEG need not be decoded at full size
            size = _shown_size(source)
            still = _small(ImageOps.exif_transpose(image), width, height)
            still.save(folder / "still.webp", "WEBP", quality=QUALITY)
            if frames > 1:
                _write_moving(image, folder / "moving.webp", width, height, frames)
    return Shrunk(*size, frames)


def _count_frames(image: "Image") -> int:
    """How many frames are kept: one, if all of them would be too much."""
    frames: int = getattr(image, "n_frames", 1) if image.format in ("GIF", "WEBP", "PNG", "AVIF") else 1
    is_too_much = frames > MAX_FRAMES or image.width * image.height * frames > MAX_ALL_PIXELS
    return 1 if is_too_much else frames


def _shown_size(source: Path) -> tuple[int, int]:
    """As it is shown: a photograph may lie on its side."""
    from PIL import Image

    with Image.open(source, formats=FORMATS) as image:
        is_turned = image.getexif().get(0x0112, 1) in (5, 6, 7, 8)
        return (image.height, image.width) if is_turned else (image.width, image.height)


def _small(image: "Image", width: int, height: int) -> "Image":
    from PIL import Image

    mode = "RGBA" if "A" in image.mode or "transparency" in image.info else "RGB"
    small = image.convert(mode)
    small.thumbnail((width, height), Image.Resampling.LANCZOS)
    return small


def _write_moving(image: "Image", target: Path, width: int, height: int, frames: int) -> None:
    pages, delays = [], []
    for number in range(frames):
        image.seek(number)
        pages.append(_small(image.convert("RGBA"), width, height))
        delays.append(max(20, int(image.info.get("duration", 100) or 100)))
    pages[0].save(target, "WEBP", save_all=True, append_images=pages[1:], duration=delays, loop=0, quality=QUALITY)
