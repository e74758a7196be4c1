"""The link that ends mails of one kind: it names a person and proves that we wrote it, and is good for nothing else.

It holds for ever, because mails are kept. It is signed with the organization's own secret, with a purpose of its own before
what is signed, so that no signature made for anything else fits.
"""

import hashlib
import hmac
from enum import StrEnum

from tertulia.notifications.missed_mail.model import Recipient

PATH = "/accounts/unsubscribe"


class Kind(StrEnum):
    """Mails that somebody can do without."""

    MISSED = "missed_messages"
    DIGEST = "digest"


SETTINGS = {Kind.MISSED: "enable_offline_email_notifications", Kind.DIGEST: "enable_digest_emails"}
"""What is turned off with them."""


def unsubscribe_link(kind: Kind, recipient: Recipient) -> str:
    """Where somebody ends mails of this kind."""
    token = unsubscribe_token(recipient.realm.notes.picture_key, recipient.user_id, kind)
    return f"{recipient.realm_url}{PATH}/{kind}/{token}"


def unsubscribe_token(key: str, user_id: int, kind: Kind = Kind.MISSED) -> str:
    """What the link ends with."""
    return f"{user_id}.{_signature(key, user_id, kind)}"


def read_token(key: str, token: str, kind: Kind = Kind.MISSED) -> int | None:
    """Whose link it is; None: we did not write it."""
    number, _, signature = token.partition(".")
    if not key or not number.isascii() or not number.isdigit() or len(number) > 18 or not signature.isascii():
        return None
    user_id = int(number)
    return user_id if hmac.compare_digest(signature, _signature(key, user_id, kind)) else None


def _signature(key: str, user_id: int, kind: Kind) -> str:
    return hmac.new(key.encode(), f"unsubscribe {kind}\n{user_id}".encode(), hashlib.sha256).hexdigest()
