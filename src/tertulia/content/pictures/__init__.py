"""Pictures that people bring, made to fit: read by Pillow, scaled, and written anew; and where they are kept.

What is stored is never what was sent: a picture is decoded and encoded again, so nothing else that a file may carry (another
format, a script, a place on the map) comes through. Invariants: only five formats are read; a picture's size is known from
its header before it is decoded, and too large a one is refused; decoding happens in a process of its own (apart.py).
"""

from tertulia.content.pictures.apart import app_icons, cover, fit, shrink, within
from tertulia.content.pictures.fitting import NotAPicture, Picture
from tertulia.content.pictures.icons import AppIcons
from tertulia.content.pictures.receiving import BODY_LIMIT, receive
from tertulia.content.pictures.shrinking import Shrunk

__all__ = [
    "BODY_LIMIT",
    "AppIcons",
    "NotAPicture",
    "Picture",
    "Shrunk",
    "app_icons",
    "cover",
    "fit",
    "receive",
    "shrink",
    "within",
]
