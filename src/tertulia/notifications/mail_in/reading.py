"""From the bytes of a mail to what it says (pure).

The standard library takes the mail apart, by its older rules: those read headers with a grammar that hostile ones keep busy.
Nothing is refused for being odd, only for being too much.
"""

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.header import decode_header
from email.message import Message

from tertulia.notifications.mail_in.html_text import text_of
from tertulia.notifications.mail_in.loops import is_automatic
from tertulia.notifications.mail_in.model import Attachment, Received

MAX_TEXT = 200_000
"""So many letters of a text are read: twenty times as many as a message may have."""
MAX_HTML = 500_000
MAX_PARTS = 200
MAX_DEPTH = 30
MAX_FILES = 20
MAX_HEADER = 4000
DECORATION = 8 * 1024
"""Smaller pictures in the text are those of signatures."""

_CHARSETS = {
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "windows-31j": "cp932",
    "shift_jis": "cp932",
    "iso-8859-1": "cp1252",
    "us-ascii": "utf-8",
    "ascii": "utf-8",
    "ansi": "cp1252",
    "x-unknown": "utf-8",
    "unknown-8bit": "utf-8",
}
_SLOW = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"})
"""What the library calls an encoding, and no mail is written in."""
_SEALS = frozenset({"application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature"})
_UNSEEN = re.compile(r"[\x00\x02-\x08\x0b\x0c\x0e-\x1f\x7f\u2028\u2029\ufeff]")
_MESSAGE_ID = re.compile(r"<([^<>\s]{1,900})>")


class TooMuch(Exception):
    """More parts or levels than any mail has."""


def read_mail(content: bytes, envelope_sender: str) -> tuple[Received, Message]:
    """What a mail says, and the mail. Raises TooMuch."""
    try:
        mail = message_from_bytes(content)
        parts = _Parts()
        parts.take(mail, 0)
    except RecursionError as error:
        raise TooMuch("The mail is nested too deeply.") from error
    named = _MESSAGE_ID.search(header_of(mail, "Message-ID"))
    received = Received(
        message_id=named[1] if named else "",
        sender=header_of(mail, "From"),
        subject=header_of(mail, "Subject"),
        text=_clean("\n\n".join(parts.texts)),
        files=tuple(parts.files),
        is_automatic=is_automatic(mail, envelope_sender),
    )
    return received, mail


def header_of(mail: Message, name: str) -> str:
    """One line, decoded."""
    raw = str(mail.get(name, ""))[:MAX_HEADER]
    try:
        pieces = decode_header(raw)
    except Exception:  # the library fails in several ways on what is no encoding
        pieces = [(raw, None)]
    told = "".join(
        piece if isinstance(piece, str) else _decoded(piece, charset or "utf-8") for piece, charset in pieces
    )
    return " ".join(_UNSEEN.sub("", told.replace("\x01", "")).split())


class _Parts:
    """What is said, and what is enclosed."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.files: list[Attachment] = []
        self._count = 0

    def take(self, part: Message, depth: int) -> None:
        self._count += 1
        if self._count > MAX_PARTS or depth > MAX_DEPTH:
            raise TooMuch("The mail has too many parts.")
        kind, name = part.get_content_type(), _name_of(part)
        if kind == "message/rfc822" and depth:
            self._enclose(name or "mail.eml", _whole(part))
        elif kind == "multipart/alternative":
            self._take_best(part, depth)
        elif part.get_content_maintype() == "multipart" or part.is_multipart():
            for inner in _inner(part):
                self.take(inner, depth + 1)
        elif kind in ("text/plain", "text/html") and not name and part.get_content_disposition() != "attachment":
            self.texts.append(_said(part, kind))
        elif kind not in _SEALS and not _is_decoration(part):
            self._enclose(name or _unnamed(kind), part.get_payload(decode=True))

    def _take_best(self, part: Message, depth: int) -> None:
        """The plain text of several forms, if it says anything; then HTML. Files may be in any of the forms."""
        told: dict[bool, str] = {}
        for inner in _inner(part):
            form = _Parts()
            form._count = self._count
            form.take(inner, depth + 1)
            self._count = form._count
            for file in form.files:
                self._enclose(file.name, file.content)
            text = "\n\n".join(form.texts)
            if text.strip():
                told.setdefault(inner.get_content_type() == "text/plain", text)
        self.texts.append(told.get(True) or told.get(False, ""))

    def _enclose(self, name: str, content: object) -> None:
        if not isinstance(content, bytes) or not content:
            return
        if len(self.files) >= MAX_FILES:
            raise TooMuch(f"The mail has more than {MAX_FILES} files.")
        self.files.append(Attachment(name, content))


def _inner(part: Message) -> Iterator[Message]:
    inner = part.get_payload()
    if isinstance(inner, list):
        yield from (one for one in inner if isinstance(one, Message))


def _whole(part: Message) -> bytes:
    inner = next(_inner(part), None)
    return b"" if inner is None else inner.as_bytes()


def _name_of(part: Message) -> str:
    try:
        name = part.get_filename()
    except Exception:  # a name in an encoding that is none
        name = None
    if not name:
        return ""
    decoded = Message()
    decoded["Subject"] = name[:MAX_HEADER].replace("\r", "").replace("\n", " ")
    return header_of(decoded, "Subject")


def _unnamed(kind: str) -> str:
    return "file." + re.sub(r"[^a-z0-9]", "", kind.partition("/")[2].rpartition(".")[2].rpartition("-")[2])[:10]


def _is_decoration(part: Message) -> bool:
    if (
        part.get_content_maintype() != "image"
        or "Content-ID" not in part
        or part.get_content_disposition() == "attachment"
    ):
        return part.get_content_type() == "text/calendar"
    content = part.get_payload(decode=True)
    return isinstance(content, bytes) and len(content) < DECORATION


def _said(part: Message, kind: str) -> str:
    content = part.get_payload(decode=True)
    assert isinstance(content, bytes)
    limit = MAX_HTML if kind == "text/html" else MAX_TEXT
    try:
        charset = part.get_content_charset("utf-8")
    except Exception:  # as for names
        charset = "utf-8"
    text = _decoded(content[: 4 * limit], charset)[:limit].replace("\r\n", "\n").replace("\r", "\n")
    if kind == "text/html":
        return text_of(text)[:MAX_TEXT]
    if _parameter(part, "format") == "flowed":
        return _unflowed(text, is_joined=_parameter(part, "delsp") == "yes")
    return text


def _parameter(part: Message, name: str) -> str:
    try:
        return str(part.get_param(name, "")).lower()
    except Exception:
        return ""


def _decoded(content: bytes, charset: str) -> str:
    wanted = charset.strip().lower()
    wanted = _CHARSETS.get(wanted, wanted)
    for one in (wanted, "utf-8", "cp1252"):
        if one in _SLOW:
            continue
        try:
            return content.decode(one, "strict" if one == "utf-8" else "replace")
        except (LookupError, UnicodeError, ValueError):
            continue
    return content.decode("utf-8", "replace")


def _unflowed(text: str, *, is_joined: bool) -> str:
    """Lines that end with a blank go on in the next (RFC 3676), at the same depth of quotation."""
    lines: list[list[str]] = []
    depth, goes_on = 0, False
    for raw in text.split("\n"):
        bare = raw.lstrip(">")
        this = len(raw) - len(bare)
        content = bare[1:] if bare.startswith(" ") else bare
        is_signature = content == "-- "
        if goes_on and this == depth and not is_signature:
            lines[-1].append(content)
        else:
            lines.append([f"{'>' * this} {content}" if this else content])
        depth, goes_on = this, content.endswith(" ") and not is_signature
        if goes_on and is_joined:
            lines[-1][-1] = lines[-1][-1][:-1]
    return "\n".join("".join(line) for line in lines)


def _clean(text: str) -> str:
    return _UNSEEN.sub("", text.replace("\xa0", " "))
