"""Pictures of our own: the icon, the service's emoji, and what stands for a picture that is still on its way."""

import functools
import io

ICON = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" rx="14" fill="#b4502f"/>'
    b'<path d="M14 20h26v6H30v24h-7V26h-9z" fill="#fff"/><circle cx="46" cy="34" r="5" fill="#f6c667"/></svg>'
)
LOADER = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60" viewBox="0 0 60 60" fill="none" stroke-width="6">'
    b'<circle cx="30" cy="30" r="20" stroke="#999" stroke-opacity=".25"/>'
    b'<path d="M30 10a20 20 0 0 1 20 20" stroke="#b4502f" stroke-linecap="round">'
    b'<animateTransform attributeName="transform" type="rotate" from="0 30 30" to="360 30 30" dur="1s" '
    b'repeatCount="indefinite"/></path></svg>'
)
PAGE = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="60" height="60" viewBox="0 0 60 60" fill="none" stroke="#888" '
    b'stroke-width="3"><circle cx="30" cy="30" r="19"/><ellipse cx="30" cy="30" rx="8" ry="19"/><path d="M11 30h38"/></svg>'
)
"""Stands for a page that has no picture."""
SIDE = 64
_FINER = 8
"""Drawn so many times as large, and shrunk: that makes edges smooth."""


@functools.cache
def extra_emoji() -> bytes:
    """The service's own emoji, as PNG: its icon."""
    return _icon(SIDE)


@functools.cache
def large_icon() -> bytes:
    """Our icon as PNG, as large as an organization's own may be."""
    return _icon(SIDE * _FINER)


def _icon(side: int) -> bytes:
    from PIL import Image, ImageDraw

    image = Image.new("RGBA", (SIDE * _FINER, SIDE * _FINER), (0, 0, 0, 0))
    draw = ImageDraw.Draw(image)

    def scaled(*points: int) -> list[int]:
        return [point * _FINER for point in points]

    draw.rounded_rectangle(scaled(0, 0, SIDE, SIDE), radius=14 * _FINER, fill="#b4502f")
    for left, top, right, bottom in ((14, 20, 40, 26), (23, 26, 30, 50)):
        draw.rectangle([*scaled(left, top), right * _FINER - 1, bottom * _FINER - 1], fill="#ffffff")
    draw.ellipse(scaled(41, 29, 51, 39), fill="#f6c667")
    written = io.BytesIO()
    image.resize((side, side), Image.Resampling.LANCZOS).save(written, "PNG", optimize=True)
    return written.getvalue()
