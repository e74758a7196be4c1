"""Templates whose values are escaped, unless they are HTML already (pure).

`Html` is made here and in `content.py` only: a name that somebody forgot to escape cannot get into a page.
"""

from collections.abc import Iterable
from html import escape
from string import Template


class Html(str):
    """Text that is HTML (or XML) and goes into a page as it is."""

    __slots__ = ()


def fill(template: Template, **values: str | int) -> Html:
    """The template with these values; those that are no HTML are escaped, for text and for quoted attributes."""
    return Html(template.substitute({name: safe(value) for name, value in values.items()}))


def safe(value: str | int) -> Html:
    """Escaped, unless it is HTML."""
    return value if isinstance(value, Html) else Html(escape(str(value)))


def joined(parts: Iterable[Html], between: str = "\n") -> Html:
    """One after the other."""
    return Html(between.join(parts))
