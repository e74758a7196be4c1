"""The kinds of events that a program knows. Two versions that run side by side may know different ones."""

import hashlib
from collections.abc import Collection


class Kinds(frozenset[str]):
    """By their types."""

    @property
    def digest(self) -> str:
        """Two programs with the same know the same."""
        return hashlib.sha256("\n".join(sorted(self)).encode()).hexdigest()[:16]


def kinds(types: Collection[str]) -> Kinds:
    """These, and what is no event for clients: the entry that only ends queues."""
    return Kinds({*types, "ends"})
