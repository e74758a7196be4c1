"""The password of an engine: made once, kept in the engine's folder, readable by its owner only."""

import secrets
from contextlib import suppress
from pathlib import Path

from tertulia.kernel.private_files import write_private


def secret_in(path: Path) -> str:
    """The password in that file, which is made if missing, or if a start on a full disk left it empty."""
    with suppress(FileNotFoundError):
        if kept := path.read_text().strip():
            return kept
    secret = secrets.token_hex(16)
    write_private(path, secret.encode())
    return secret
