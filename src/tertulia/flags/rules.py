"""Pure decisions about flags."""

from tertulia.kernel.errors import Refusal
from tertulia.reads.model import EDITABLE_MARKS, FIXED_FLAGS


def check_flag(flag: str) -> None:
    """Refuse a flag that does not exist, or that nobody sets for themselves."""
    if flag in FIXED_FLAGS:
        raise Refusal(f"Flag not editable: '{flag}'")
    if flag != "read" and flag not in EDITABLE_MARKS:
        raise Refusal(f"Invalid flag: '{flag}'")
