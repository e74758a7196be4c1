"""Saved snippets as the API shows them."""

import msgspec


class Snippet(msgspec.Struct, frozen=True):
    """A text with a title."""

    id: int
    title: str
    content: str
    date_created: int
