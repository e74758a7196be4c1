"""Where the attributes of resources lie, and conditions on them. Needs no library."""

from typing import Any

import msgspec


class Column(msgspec.Struct, frozen=True):
    """Where an attribute lies."""

    sql: str
    """Empty: it has many values, and can only be asked whether one of them equals something."""
    kind: str = "text"
    """text, folded (text in lower case), boolean, time."""
    equals: str = ""
    """The condition that it equals the argument `{}`, where an index finds that sooner than the column itself."""


class Condition(msgspec.Struct, frozen=True):
    """A condition with its arguments, which have the numbers from `FIRST_ARGUMENT` on."""

    sql: str = "true"
    arguments: tuple[Any, ...] = ()


FIRST_ARGUMENT = 2
"""The number of a condition's first argument: before it is the realm."""
