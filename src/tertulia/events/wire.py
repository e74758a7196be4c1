"""What clients see, as types: each feature writes those of its events and of its keys of POST /register in its `wire.py`.

The API description publishes them (server/catalogue.py), and the tests compare every event and every state that any of them
receives with that description (tests/harness/schemas.py): no key may be missing, and none may be extra.

Invariants
- An event is a subclass of `Event`, one for each pair of `type` and `op`: together they identify the class.
- `KEYS` of a feature's module has the type of each key that its parts of the state give; no two features give the same.
- A key that is not always there is `... | Unset = UNSET`; one that may be null says so. Those of the state never say it:
  which of them are there depends on what is fetched.
"""

from typing import Any, get_type_hints

import msgspec
from msgspec import UnsetType as Unset

__all__ = ["Event", "Unset", "keys_of"]


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """What every event has: an `id` that increases within a queue, with gaps."""

    id: int


def keys_of(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields of a record with their types, for keys that are shown beside others."""
    return {name: kind for name, kind in get_type_hints(struct, include_extras=True).items() if name[0] != "_"}
