"""Values of somebody's JSON: nothing is taken for granted of their shape (pure)."""

from typing import Any

Json = dict[str, Any]


def objects(value: object) -> list[Json]:
    """The objects of a list, if it is one."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def string(value: object) -> str:
    """A text, if it is one."""
    return value if isinstance(value, str) else ""


def strings(value: object) -> list[str]:
    """The texts of a list that have something in them."""
    return [one for one in value if isinstance(one, str) and one] if isinstance(value, list) else []
