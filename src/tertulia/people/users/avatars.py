"""Avatars that we draw ourselves: a symmetric pattern in a colour, both following from the account's number (pure).

No third party is asked for a picture, so none learns who reads whom.
"""

import hashlib

SMALL, MEDIUM = 100, 500
_SIDE = 5


def identicon(user_id: int, size: int = SMALL) -> bytes:
    """An SVG picture, the same each time."""
    digest = hashlib.blake2b(b"%d" % user_id, digest_size=16).digest()
    hue = int.from_bytes(digest[:2], "big") % 360
    bits = int.from_bytes(digest[2:], "big")
    cells = []
    for column in range((_SIDE + 1) // 2):
        for row in range(_SIDE):
            bits, is_filled = bits >> 1, bits & 1
            if is_filled:
                # A set: the middle column is its own mirror image.
                cells += [f"M{x + 0.5:g} {row + 0.5:g}h1v1h-1z" for x in sorted({column, _SIDE - 1 - column})]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" viewBox="0 0 6 6">'
        f'<rect width="6" height="6" fill="hsl({hue},35%,92%)"/>'
        f'<path d="{"".join(cells)}" fill="hsl({hue},55%,42%)"/></svg>'
    ).encode()
