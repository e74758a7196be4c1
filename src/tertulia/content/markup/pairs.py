"""Partners in a text: backticks of one length, brackets. All of one kind are paired in one pass, when the first is asked for."""

import re
from bisect import bisect_right

from tertulia.content.markup.linkifiers import LinkifierMatch

_BACKTICKS = re.compile(r"`+")
_BRACKETS = re.compile(r"[\[\]`]")


class Pairs:
    """The pairs of one text."""

    __slots__ = ("_brackets", "_spans", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._spans: dict[int, tuple[int, int]] | None = None
        self._brackets: dict[int, int] | None = None

    def code_span(self, start: int) -> tuple[int, int] | None:
        """Where the code that begins with these backticks starts and ends, without them."""
        if self._spans is None:
            self._spans = _code_spans(self._text)
        return self._spans.get(start)

    def after_backticks(self, start: int) -> int:
        """The end of a run of backticks without partner."""
        run = _BACKTICKS.match(self._text, start)
        return run.end() if run else start + 1

    def closing_bracket(self, start: int) -> int | None:
        """The bracket that closes the one here; brackets in code do not count."""
        if self._brackets is None:
            self._brackets = self._pair_brackets()
        return self._brackets.get(start)

    def outside_code(self, matches: list[LinkifierMatch]) -> list[LinkifierMatch]:
        """Those that do not touch code."""
        if not matches or "`" not in self._text:
            return matches
        self.code_span(0)
        assert self._spans is not None
        spans = sorted((start, end + inner - start) for start, (inner, end) in self._spans.items())
        starts = [start for start, _ in spans]
        kept = []
        for match in matches:
            place = bisect_right(starts, match.end - 1)
            if place == 0 or spans[place - 1][1] <= match.start:
                kept.append(match)
        return kept

    def _pair_brackets(self) -> dict[int, int]:
        pairs: dict[int, int] = {}
        waiting: list[int] = []
        position = 0
        while found := _BRACKETS.search(self._text, position):
            place = found.start()
            position = place + 1
            if found.group() == "[":
                waiting.append(place)
            elif found.group() == "]":
                if waiting:
                    pairs[waiting.pop()] = place
            elif span := self.code_span(place):
                position = span[1] + span[0] - place
            else:
                position = self.after_backticks(place)
        return pairs


def _code_spans(text: str) -> dict[int, tuple[int, int]]:
    """For each run of backticks that opens code: where the code starts and ends."""
    runs = [(match.start(), match.end()) for match in _BACKTICKS.finditer(text)]
    # From the back: which later run of the same length comes next.
    following: dict[int, int] = {}
    partner: list[int | None] = [None] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        partner[index] = following.get(length)
        following[length] = index
    spans: dict[int, tuple[int, int]] = {}
    index = 0
    while index < len(runs):
        close = partner[index]
        if close is None:
            index += 1
            continue
        start, end = runs[index]
        spans[start] = (end, runs[close][0])
        index = close + 1
    return spans
