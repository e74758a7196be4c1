"""Environment variables that look like settings and are none: a misspelt one would silently have no effect."""

import difflib
import os
from collections.abc import Mapping

from tertulia.kernel.settings import PREFIX, Settings

NO_SETTINGS = {PREFIX + "CONFIG", PREFIX + "USER_PASSWORD"}
"""Variables of ours that are no settings of the server."""


def unknown_variables(env: Mapping[str, str] = os.environ) -> list[str]:
    """A sentence about each."""
    known = {PREFIX + name.upper() for name in Settings.__struct_fields__} | NO_SETTINGS
    return [_told(name, known) for name in sorted(env) if name.startswith(PREFIX) and name not in known]


def _told(name: str, known: set[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
    return f"{name} is no setting, and has no effect" + (f"; is {near[0]} meant?" if near else "")
