"""Mails that the server of a test has written into its folder."""

import email
import re
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


def mailed(folder: Path, address: str, pattern: str, count: int = 1) -> list[str]:
    """What the pattern, or its group, finds in so many mails to somebody, when they have come; oldest first.

    Other mails, as those about a new browser, may come before them, between them or after them.
    """
    deadline = time.monotonic() + 20
    while True:
        bodies = [mail.get_body(("plain",)) for mail in mails_to(folder, address, 0)]
        found = [one for body in bodies if body is not None and (one := re.search(pattern, body.get_content()))]
        if len(found) >= count:
            return [one[one.re.groups] for one in found]
        assert time.monotonic() < deadline, f"{len(found)} of {count} mails with {pattern} came"
        time.sleep(0.05)
