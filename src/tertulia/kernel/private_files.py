"""Files that nobody else reads."""

import os
from pathlib import Path


def write_private(path: Path, content: bytes) -> None:
    """Replace a file whole, readable by its owner only; on a full disk the former one stays. No link is followed."""
    attempt = path.with_name(path.name + ".new")
    attempt.unlink(missing_ok=True)
    with os.fdopen(os.open(attempt, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content + b"\n")
    attempt.replace(path)
