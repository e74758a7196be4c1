"""The link that ends mails about missed messages: it names a person and proves that we wrote it, and is good for nothing else.

It holds for ever, because mails are kept. It is signed with the organization's own secret, with a purpose of its own before
what is signed, so that no signature made for anything else fits.
"""

import hashlib
import hmac

PATH = "/accounts/unsubscribe/missed_messages"
_PURPOSE = "unsubscribe missed_messages"


def unsubscribe_token(key: str, user_id: int) -> str:
    """What the link ends with."""
    return f"{user_id}.{_signature(key, user_id)}"


def read_token(key: str, token: str) -> int | None:
    """Whose link it is; None: we did not write it."""
    number, _, signature = token.partition(".")
    if not key or not number.isascii() or not number.isdigit() or len(number) > 18 or not signature.isascii():
        return None
    user_id = int(number)
    return user_id if hmac.compare_digest(signature, _signature(key, user_id)) else None


def _signature(key: str, user_id: int) -> str:
    return hmac.new(key.encode(), f"{_PURPOSE}\n{user_id}".encode(), hashlib.sha256).hexdigest()
