"""Pure decisions about groups: what becomes of one.

The members of a group are not read for it: an edit says whom to add and whom to remove, whoever else is in the group, so a
change costs as much in a large group as in a small one.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import msgspec

from tertulia.integrations.scim.answers import ScimRefusal
from tertulia.kernel.text import bad_character

if TYPE_CHECKING:
    from tertulia.integrations.scim.groups.queries import GroupRow
    from tertulia.integrations.scim.schemas import WrittenGroup

MAX_EXTERNAL_ID_LENGTH = 255
MAX_LISTED_MEMBERS = 50_000
"""On one page of groups. Nobody else is answered while it is put together: with 400,000 others waited for 1.3 s."""


class GroupEdit:
    """What is to become of a group; built up by one operation after the other."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.external_id: str | msgspec.UnsetType | None = msgspec.UNSET
        self.everybody = False
        """Whether `added` are all its members from now on."""
        self.added: set[str] = set()
        self.removed: set[str] = set()

    def add(self, ids: Iterable[str]) -> None:
        """These are members."""
        self.added |= set(ids)
        self.removed -= self.added

    def remove(self, ids: Iterable[str]) -> None:
        """These are not."""
        self.removed |= set(ids)
        self.added -= self.removed

    def replace(self, ids: Iterable[str]) -> None:
        """These are, and nobody else."""
        self.everybody, self.added, self.removed = True, set(ids), set()


def edit_by_put(sent: "WrittenGroup") -> GroupEdit:
    """The edit that makes a group as it was sent."""
    edit = GroupEdit()
    edit.name = sent.display_name
    edit.external_id = checked_id(sent.external_id)
    edit.replace(member.value for member in sent.members or () if member.value)
    return edit


def fitting(rows: "Sequence[GroupRow]", sizes: Mapping[int, int]) -> "list[GroupRow]":
    """As many groups as fit on a page with their members, one at least. A page may have fewer than a client asked for."""
    reached = list(accumulate(sizes.get(row.id, 0) for row in rows))
    return [row for place, row in enumerate(rows) if place == 0 or reached[place] <= MAX_LISTED_MEMBERS]


def checked_id(external_id: Any) -> str | None:
    """What the provider calls a group, if that can be stored."""
    if external_id is None:
        return None
    fits = isinstance(external_id, str) and len(external_id) <= MAX_EXTERNAL_ID_LENGTH
    if not fits or bad_character(external_id) is not None:
        raise ScimRefusal(
            f"externalId is a text of at most {MAX_EXTERNAL_ID_LENGTH} visible characters.", "invalidValue"
        )
    return str(external_id)
