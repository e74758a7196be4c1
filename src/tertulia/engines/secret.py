"""The password of an engine: made once, kept in the engine's folder, readable by its owner only."""

import os
import secrets
from pathlib import Path


def secret_in(path: Path) -> str:
    """The password in that file, which is made if missing."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        pass
    secret = secrets.token_hex(16)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(handle, f"{secret}\n".encode())
    finally:
        os.close(handle)
    return secret
