"""How many statements the database is asked for a request, and how long their answers take: for its line in the log.

`statements_now` is whose statements are counted at this moment. It is set for each request as it begins, so that nothing has to
hand it through; a task that works for many requests counts for itself (`count_anew`), and tells each of them at the end what
its share was (`shared`). What nobody asked for is counted for nobody.
"""

from contextvars import ContextVar
from time import perf_counter


class Statements:
    """Of one request, or of one piece of work for many. The frame of a transaction counts as well: each part is a round trip."""

    __slots__ = ("number", "seconds")

    def __init__(self) -> None:
        self.number = 0
        self.seconds = 0.0

    def answered(self, began: float, name: str = "") -> None:  # noqa: ARG002 -- for traces (tracing.py)
        """One more, which was asked at that moment (`perf_counter`). `name`: if it is not that of the function that asked."""
        self.number += 1
        self.seconds += perf_counter() - began

    def shared(self, others: "Statements") -> None:
        """These were asked for this request and others together."""
        self.number += others.number
        self.seconds += others.seconds


class Counting:
    """How statements are counted in this process."""

    kind: type[Statements] = Statements


NOBODYS = Statements()
_now: ContextVar[Statements] = ContextVar("statements", default=NOBODYS)

statements_now = _now.get
"""Whose statements are counted."""


def count_anew() -> Statements:
    """From now on what this task asks is counted here."""
    statements = Counting.kind()
    _now.set(statements)
    return statements
