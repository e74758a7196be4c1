"""Numbers of messages as ranges (pure)."""

from collections.abc import Iterable, Iterator


def runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Numbers as ranges, the last one of each included."""
    return merged((number, number) for number in sorted(set(numbers)))


def merged(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Ranges in the order of their beginnings, those that touch as one."""
    current: tuple[int, int] | None = None
    for first, last in ranges:
        if current is not None and first <= current[1] + 1:
            current = current[0], max(current[1], last)
        else:
            if current is not None:
                yield current
            current = first, last
    if current is not None:
        yield current
