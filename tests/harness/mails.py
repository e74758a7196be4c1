"""Mails that the server of a test has written into its folder."""

import email
import re
from email.message import EmailMessage
from email.policy import default
from pathlib import Path

from tests.harness.talk import eventually


def mails_to(folder: Path, address: str, count: int = 1) -> list[EmailMessage]:
    """The mails to somebody, when so many have come; oldest first."""
    files: list[Path] = []

    def have_come() -> bool:
        files[:] = sorted(folder.glob(f"*{address}.eml"), key=lambda file: file.stat().st_mtime_ns)
        return len(files) >= count

    eventually(have_come, 20)
    return [email.message_from_bytes(file.read_bytes(), policy=default) for file in files]


def mailed(folder: Path, address: str, pattern: str, count: int = 1) -> list[str]:
    """What the pattern, or its group, finds in so many mails to somebody, when they have come; oldest first.

    Other mails, as those about a new browser, may come before them, between them or after them.
    """
    found: list[str] = []

    def have_come() -> bool:
        bodies = [mail.get_body(("plain",)) for mail in mails_to(folder, address, 0)]
        matches = [re.search(pattern, body.get_content()) for body in bodies if body is not None]
        found[:] = [one[one.re.groups] for one in matches if one]
        return len(found) >= count

    eventually(have_come, 20)
    return found
