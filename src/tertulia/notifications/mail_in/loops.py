"""Which mails no person wrote to us (pure): answering machines, reports, lists, and what we sent ourselves.

An answering machine that answers a mail of ours must not become a message, or it tells people who are mailed about it, whose
answering machines answer.
"""

from collections.abc import Collection
from email.message import Message

_PRECEDENCE = frozenset({"bulk", "junk", "list", "auto_reply", "auto-reply"})
_MARKS = ("X-Autoreply", "X-Autorespond", "X-Auto-Reply-From", "X-Mail-Autoreply", "X-Failed-Recipients", "List-Id")
_SUPPRESSED = frozenset({"all", "oof", "autoreply"})
"""Who asks for no automatic answers is a program: one that answers while somebody is away asks for these."""


def is_automatic(mail: Message, envelope_sender: str) -> bool:
    """Whether a program sent it by itself, a list handed it on, or it reports about another mail."""
    if envelope_sender.strip("<> ") == "" or _first_word(mail, "Auto-Submitted") not in ("", "no"):
        return True
    if _first_word(mail, "Precedence") in _PRECEDENCE or any(name in mail for name in _MARKS):
        return True
    suppressed = {word.strip().lower() for word in str(mail.get("X-Auto-Response-Suppress", "")).split(",")}
    return bool(suppressed & _SUPPRESSED) or mail.get_content_type() == "multipart/report"


def is_ours(mail: Message, our_sender: str, our_hosts: Collection[str]) -> bool:
    """Whether it is a mail of this server that came back: by its list, its name, or whom it is from."""
    listed = str(mail.get("List-Id", "")).rpartition("<")[2].partition(">")[0].strip().lower()
    named = str(mail.get("Message-ID", "")).strip(" <>\t").rpartition("@")[2].lower()
    return listed in our_hosts or named in our_hosts or f"<{our_sender.lower()}>" in _address(mail)


def _first_word(mail: Message, name: str) -> str:
    """Parameters may follow, or a comment."""
    words = str(mail.get(name, "")).replace(";", " ").replace("(", " ").split()
    return words[0].lower() if words else ""


def _address(mail: Message) -> str:
    told = str(mail.get("From", ""))[:1000].lower()
    return told if "<" in told else f"<{told.strip()}>"
