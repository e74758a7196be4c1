"""Addresses of the web, taken apart."""

import re
from urllib.parse import SplitResult, urljoin, urlsplit

MAX_CALL_SERVER = 200
MAX_URL = 4096
"""Characters. Browsers and servers take no longer ones either."""


def split_url(url: str) -> SplitResult:
    """The parts of an address. Raises ValueError for what is none, and for a very long one.

    The length comes first: the host is normalized on the way, which takes the square of its combining marks.
    """
    if len(url) > MAX_URL:
        raise ValueError("the address is too long")
    return urlsplit(url)


def join_url(base: str, reference: str) -> str:
    """Where a link in a page leads. Raises ValueError as `split_url` does."""
    if len(reference) > MAX_URL:
        raise ValueError("the address is too long")
    return urljoin(base, reference)


def is_call_server(url: str) -> bool:
    """Whether this is the address of a server for calls: over TLS, with a path at most; names of rooms are put behind it."""
    if len(url) > MAX_CALL_SERVER or re.search(r"[\s<>\"()\[\]\\]", url):
        return False
    try:
        parts = split_url(url)
        return (
            parts.scheme == "https"
            and bool(parts.hostname)
            and not ("@" in parts.netloc or "?" in url or "#" in url or parts.port == 0)
        )
    except ValueError:
        return False
