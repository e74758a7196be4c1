"""Addresses with a token in them (pure): whoever writes to one is known by it.

A token is random, has more than 120 bits, and no difference between small and large letters, which some mail servers do not
keep. The database has its digest. The part before the @ stays below the 64 letters that mail servers take.
"""

import base64
import re
import secrets

from tertulia.kernel.settings import Settings

TOKEN_BYTES = 16
HIDDEN = "(…)"
HIDDEN_IN_FILE = b"(...)"
_TOKEN = re.compile(r"[a-z2-7]{26}")


def new_token() -> str:
    """Nobody guesses it."""
    return base64.b32encode(secrets.token_bytes(TOKEN_BYTES)).decode().rstrip("=").lower()


def address_of(settings: Settings, token: str) -> str:
    """Where mail with this token is sent to."""
    return settings.mail_in_address.replace("%s", token)


def find_token(settings: Settings, address: str) -> str | None:
    """The token in an address; None: it is none of ours."""
    before, _, after = settings.mail_in_address.lower().partition("%s")
    told = address.strip("<> ").lower()
    if not before + after or not (told.startswith(before) and told.endswith(after)):
        return None
    token = told[len(before) : len(told) - len(after)]
    return token if _TOKEN.fullmatch(token) else None


def hide_addresses(settings: Settings, text: str) -> str:
    """A text without such addresses: mails quote whom they were sent to, and whoever reads one could write as somebody else."""
    before, _, after = settings.mail_in_address.partition("%s")
    return re.sub(re.escape(before) + _TOKEN.pattern + re.escape(after), HIDDEN, text, flags=re.IGNORECASE)


def hide_in_file(settings: Settings, content: bytes) -> bytes:
    """The same of what a mail encloses: it may be a mail of ours as it came, with all its headers."""
    before, _, after = settings.mail_in_address.lower().encode().partition(b"%s")
    # A pattern that takes small letters for large ones would go over megabytes slowly.
    pattern = re.compile(re.escape(before) + _TOKEN.pattern.encode() + re.escape(after))
    kept, end = [], 0
    for found in pattern.finditer(content.lower()):
        kept += [content[end : found.start()], HIDDEN_IN_FILE]
        end = found.end()
    return b"".join([*kept, content[end:]]) if kept else content
