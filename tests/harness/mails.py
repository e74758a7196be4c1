"""Mails that the server of a test has written into its folder."""

import email
import time
from email.message import EmailMessage
from email.policy import default
from pathlib import Path


def mails_to(folder: Path, address: str, count: int = 1) -> list[EmailMessage]:
    """The mails to somebody, when so many have come; oldest first."""
    deadline = time.monotonic() + 20
    while True:
        files = sorted(folder.glob(f"*{address}.eml"), key=lambda file: file.stat().st_mtime_ns)
        if len(files) >= count:
            return [email.message_from_bytes(file.read_bytes(), policy=default) for file in files]
        assert time.monotonic() < deadline, "the mail did not come"
        time.sleep(0.05)
