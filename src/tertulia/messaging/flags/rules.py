"""Pure decisions about flags."""

from tertulia.conversations.read_state.marks import EDITABLE_MARKS, FIXED_FLAGS
from tertulia.kernel.errors import Refusal

MAX_FLAGGED = 5000
"""How many messages of a narrow are flagged at once."""


def check_flag(flag: str) -> None:
    """Refuse a flag that does not exist, or that nobody sets for themselves."""
    if flag in FIXED_FLAGS:
        raise Refusal(f"Flag not editable: '{flag}'")
    if flag != "read" and flag not in EDITABLE_MARKS:
        raise Refusal(f"Invalid flag: '{flag}'")


def clamp(num_before: int, num_after: int) -> tuple[int, int]:
    """As much of a window as is done at once; nobody is refused for asking for more."""
    if num_before + num_after > MAX_FLAGGED:
        num_before = min(num_before, max(MAX_FLAGGED - num_after, MAX_FLAGGED // 2))
    return num_before, min(num_after, MAX_FLAGGED - num_before)
