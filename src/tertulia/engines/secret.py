"""The password of an engine: made once, kept in the engine's folder, readable by its owner only."""

import os
import secrets
from contextlib import suppress
from pathlib import Path


def secret_in(path: Path) -> str:
    """The password in that file, which is made if missing, or if a start on a full disk left it empty."""
    with suppress(FileNotFoundError):
        if kept := path.read_text().strip():
            return kept
    secret = secrets.token_hex(16)
    attempt = path.with_name(path.name + ".new")
    attempt.unlink(missing_ok=True)
    with os.fdopen(os.open(attempt, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{secret}\n")
    attempt.replace(path)
    return secret
