"""The files of deploy/debian: in the wheel beside this module, in a checkout where they are written."""

from pathlib import Path

_IN_WHEEL = Path(__file__).with_name("debian")
_IN_CHECKOUT = Path(__file__).parents[4] / "deploy" / "debian"


def shipped(name: str) -> Path:
    """One of them."""
    return (_IN_WHEEL if _IN_WHEEL.is_dir() else _IN_CHECKOUT) / name
