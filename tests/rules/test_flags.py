"""How much of a window is flagged at once."""

import pytest

from tertulia.flags.rules import clamp


@pytest.mark.parametrize(
    ("asked", "done"),
    [
        ((0, 0), (0, 0)),
        ((2500, 2500), (2500, 2500)),
        ((5000, 0), (5000, 0)),
        ((0, 5000), (0, 5000)),
        ((9000, 0), (5000, 0)),
        ((0, 9000), (0, 5000)),
        ((5000, 5000), (2500, 2500)),
        ((4900, 200), (4800, 200)),
        ((200, 4900), (200, 4800)),
        ((1, 10**12), (1, 4999)),
    ],
)
def test_the_larger_side_gives_way_first(asked: tuple[int, int], done: tuple[int, int]) -> None:
    assert clamp(*asked) == done
