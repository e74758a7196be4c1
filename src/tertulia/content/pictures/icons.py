"""The icons of an installed client, made of one picture, in the sizes and shapes that systems ask for (pure)."""

import colorsys
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from tertulia.content.pictures.fitting import opened, upright, write_png

if TYPE_CHECKING:
    from PIL.Image import Image

PAPER = "#fdfbf8"
"""The ground behind what is transparent, and of the client while it starts."""
PLAIN_SIDES = (192, 512)
APPLE_SIDE = 180
_SAFE = 0.72
"""Systems cut a maskable icon to a circle, a drop or a square: the picture stays within what all of them leave."""
_ROOMY = 0.84
_OPAQUE = 250


class AppIcons(msgspec.Struct, frozen=True):
    """All icons, as PNG by name, and the colour that goes with them."""

    colour: str
    icons: dict[str, bytes]


def app_icons(data: bytes) -> AppIcons:
    """The icons of a picture: as it is, with a ground for systems that cut it to a shape, and without holes for Apple's."""
    from PIL import ImageOps

    with opened(data, max(PLAIN_SIDES)) as image:
        whole = upright(image)
        square = ImageOps.fit(whole, (max(PLAIN_SIDES),) * 2)
    ground = _ground_of(square)
    made = {str(side): square.resize((side, side)) for side in PLAIN_SIDES}
    made |= {f"maskable-{side}": _on(ground or PAPER, square, side, _SAFE) for side in PLAIN_SIDES}
    made["apple"] = _on(ground or PAPER, square, APPLE_SIDE, 1.0 if ground else _ROOMY)
    return AppIcons(_colour_of(square), {name: write_png(icon) for name, icon in made.items()})


def _on(ground: str, picture: "Image", side: int, part: float) -> "Image":
    from PIL import Image

    whole = Image.new("RGBA", (side, side), ground)
    inner = round(side * part)
    small = picture.resize((inner, inner))
    whole.alpha_composite(small, ((side - inner) // 2, (side - inner) // 2))
    return whole


def _ground_of(square: "Image") -> str | None:
    """The colour of its edge, if it fills its square."""
    last = square.width - 1
    corners = [_pixel(square, x, y) for x in (0, last) for y in (0, last)]
    if any(alpha < _OPAQUE for *_, alpha in corners):
        return None
    red, green, blue = (sum(corner[band] for corner in corners) // len(corners) for band in range(3))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _colour_of(square: "Image") -> str:
    """What one would call its colour: among those it has much of, the most colourful."""
    small = square.resize((32, 32))
    seen: Counter[tuple[int, int, int]] = Counter()
    for x in range(small.width):
        for y in range(small.height):
            red, green, blue, alpha = _pixel(small, x, y)
            if alpha >= _OPAQUE // 2:
                seen[red & 0xF0, green & 0xF0, blue & 0xF0] += 1
    if not seen:
        return PAPER

    def weight(item: tuple[tuple[int, int, int], int]) -> float:
        (red, green, blue), count = item
        _, saturation, value = colorsys.rgb_to_hsv(red / 255, green / 255, blue / 255)
        return count * (0.05 + saturation * value)

    red, green, blue = (band + 8 for band in max(seen.items(), key=weight)[0])
    return f"#{red:02x}{green:02x}{blue:02x}"


def _pixel(image: "Image", x: int, y: int) -> tuple[int, int, int, int]:
    pixel = image.getpixel((x, y))
    assert isinstance(pixel, tuple)
    red, green, blue, alpha = pixel
    return int(red), int(green), int(blue), int(alpha)
