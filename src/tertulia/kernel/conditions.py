"""What a request says of the answers it can do with: those it has already, and encodings (RFC 9110, sections 12 and 13; pure)."""

from collections.abc import Iterable

_NEVER = ("q=0", "q=0.0", "q=0.00", "q=0.000")


def entity_tags(header: str | None) -> list[str]:
    """The tags in an If-None-Match header."""
    return [tag.strip().removeprefix("W/") for tag in (header or "").split(",")]


def has_entity(header: str | None, etag: str) -> bool:
    """Whether a client with this If-None-Match header has what the tag stands for."""
    known = entity_tags(header)
    return etag in known or "*" in known


def accepted_encoding(header: str | None, encodings: Iterable[str]) -> str | None:
    """The first of `encodings` that an Accept-Encoding header allows."""
    allowed = {}
    for part in (header or "").lower().split(","):
        name, _, weight = part.partition(";")
        allowed[name.strip().removeprefix("x-")] = weight.replace(" ", "") not in _NEVER
    return next((each for each in encodings if allowed.get(each, allowed.get("*"))), None)
