"""The files of deploy/cluster, as an operator would fit them to a machine.

They are written for the first machine, `n1` at 10.9.0.1. On another one, the lines that end in `# this node` change.
"""

import re
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "deploy" / "cluster"
PASSWORD = "only-on-loopback"


def on_node(name: str, node: int) -> str:
    """The file for that machine, still with the documented addresses."""
    text = (FOLDER / name).read_text().replace("CHANGE-ME", PASSWORD)
    return "\n".join(_fit(line, node) if "# this node" in line else line for line in text.split("\n"))


def settings_of(name: str) -> dict[str, str]:
    """The lines of an environment file."""
    lines = on_node(name, 1).splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def _fit(line: str, node: int) -> str:
    return re.sub(r"\bn1\b", f"n{node}", line.replace("10.9.0.1", f"10.9.0.{node}"))
