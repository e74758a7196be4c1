"""Addresses of the web, taken apart."""

from urllib.parse import SplitResult, urlsplit

MAX_URL = 4096
"""Characters. Browsers and servers take no longer ones either."""


def split_url(url: str) -> SplitResult:
    """The parts of an address. Raises ValueError for what is none, and for a very long one.

    The length comes first: the host is normalized on the way, which takes the square of its combining marks.
    """
    if len(url) > MAX_URL:
        raise ValueError("the address is too long")
    return urlsplit(url)
