"""The password of an engine: made once, kept in the engine's folder, readable by its owner only."""

import os
import secrets
from pathlib import Path

from tertulia.engines.account import Account


def secret_in(path: Path, account: Account | None = None) -> str:
    """The password in that file, which is made if missing and given to the account."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        pass
    secret = secrets.token_hex(16)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        if account is not None:
            os.fchown(handle, account.uid, account.gid)
        os.write(handle, f"{secret}\n".encode())
    finally:
        os.close(handle)
    return secret
