"""Stars and tildes: bold, italic, struck out. Nothing of it goes beyond its line.

Delimiters are written as literal text first and turned into tags when their partner comes. Marks are counted, so that nobody
searches for a partner that is not there: each delimiter is looked at a bounded number of times.
"""

_BOLD, _ITALIC, _BOTH, _STRUCK = "**", "*", "***", "~~"
_TAGS = {_BOLD: ("<strong>", "</strong>"), _ITALIC: ("<em>", "</em>"), _STRUCK: ("<del>", "</del>")}


class Emphasis:
    """The delimiters of one line that wait for their partners; `out` is the list of pieces of HTML they belong to."""

    def __init__(self, out: list[str]) -> None:
        self._out = out
        # Each waits with its mark and its place in `out`. Three stars have two places there: they may be closed in two parts.
        self._waiting: list[tuple[str, int]] = []
        self._count = dict.fromkeys((_BOLD, _ITALIC, _BOTH, _STRUCK), 0)

    def end_line(self) -> None:
        """Whoever still waits stays literal."""
        if self._waiting:
            self._drop(0)

    def delimit(self, run: str, before: str, after: str) -> None:
        """Take a run of stars or tildes, between these characters (empty at the edges of the line)."""
        if run not in self._count:
            self._out.append(run)
            return
        is_tight = run in (_ITALIC, _BOTH)
        may_close = bool(before) and not (is_tight and before.isspace())
        may_open = bool(after) and not (is_tight and after.isspace())
        if may_close and (self._close_both() if run == _BOTH else self._close(run)):
            return
        if may_open:
            self._wait(run)
        else:
            self._out.append(run)

    def _wait(self, run: str) -> None:
        self._waiting.append((run, len(self._out)))
        self._count[run] += 1
        self._out.extend((_BOLD, _ITALIC) if run == _BOTH else (run,))

    def _close(self, run: str) -> bool:
        partner = self._find(run, _BOTH if run != _STRUCK else run)
        if partner is None:
            return False
        mark, place = self._waiting[partner]
        opening, closing = _TAGS[run]
        self._drop(partner)
        if mark == _BOTH:
            # The part that is left goes on waiting, outside of what is closed now.
            rest = _ITALIC if run == _BOLD else _BOLD
            self._out[place : place + 2] = [rest, opening]
            self._waiting.append((rest, place))
            self._count[rest] += 1
        else:
            self._out[place] = opening
        self._out.append(closing)
        return True

    def _close_both(self) -> bool:
        partner = self._find(_BOTH, _BOTH)
        if partner is not None:
            place = self._waiting[partner][1]
            self._drop(partner)
            self._out[place : place + 2] = ["<strong>", "<em>"]
            self._out.append("</em></strong>")
            return True
        bold, italic = self._find(_BOLD, _BOLD), self._find(_ITALIC, _ITALIC)
        if bold is None or italic is None:
            return False
        self._close(_BOLD if bold > italic else _ITALIC)
        self._close(_ITALIC if bold > italic else _BOLD)
        return True

    def _find(self, one: str, other: str) -> int | None:
        if not self._count[one] and not self._count[other]:
            return None
        place = len(self._waiting) - 1
        while self._waiting[place][0] not in (one, other):
            place -= 1
        return place

    def _drop(self, first: int) -> None:
        for mark, _ in self._waiting[first:]:
            self._count[mark] -= 1
        del self._waiting[first:]
