"""The files of deploy/debian and deploy/standalone: in the wheel beside this module, in a checkout where they are written."""

from pathlib import Path

_IN_CHECKOUT = Path(__file__).parents[4] / "deploy"


def shipped(name: str, kit: str = "debian") -> Path:
    """One of them."""
    in_wheel = Path(__file__).with_name(kit)
    return (in_wheel if in_wheel.is_dir() else _IN_CHECKOUT / kit) / name
