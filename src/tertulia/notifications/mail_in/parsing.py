"""Taking a mail apart (pure), by the standard library within bounds of ours.

The library takes time that grows with the square of what hostile mails have much of: parameters of a header, and parts in each
other, because each line is compared with the boundaries of all of them. So these are counted while it reads, not afterwards, and
headers are cut. A mail in a mail is not read at all. What headers call an encoding is never looked up as it stands: the
interpreter remembers every such name for ever.
"""

import re
from collections.abc import Callable
from email import message_from_bytes
from email._policybase import Compat32
from email.message import Message
from encodings import normalize_encoding
from encodings.aliases import aliases

MAX_PARTS = 200
MAX_DEPTH = 10
MAX_HEADER = 4000
MAX_PARAMETERS = 60
FREE_LINES = 200_000
SHORT_LINE = 40
"""So many bytes the lines of a mail have on the average, beyond the first ones: what is encoded has 76."""
ENCLOSED = "application/x-mail"
REPORT = "application/x-report"
"""What we call a mail in a mail, and what mail servers tell each other, so that they stay as they are."""

_NO_LETTERS = frozenset({"base64_codec", "bz2_codec", "hex_codec", "quopri_codec", "rot_13", "uu_codec", "zlib_codec"})
_OTHERS = ("cp720", "cp737", "cp874", "koi8_u", "mac_croatian", "mac_romanian", "utf_8_sig")
_ENCODINGS = {
    **{name: found for name, found in aliases.items() if found not in _NO_LETTERS},
    **{name: name for name in (*aliases.values(), *_OTHERS) if name not in _NO_LETTERS},
    "iso_8859_8_i": "iso8859_8",
    "iso_8859_8_e": "iso8859_8",
    "windows_874": "cp874",
    "ansi": "cp1252",
}
_MEANT = {
    "latin_1": "cp1252",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "ascii": "utf_8",
}
"""What mail programs write, and what they mean by it."""


_HALF_LETTER = re.compile("[\ud800-\udfff]")


class TooMuch(Exception):
    """More parts, levels or lines than any mail has."""


class Part(Message):
    """A mail, or a part of one."""

    depth = 0

    def attach(self, payload: Message) -> None:  # type: ignore[override]
        """A part inside; refused where no mail has one."""
        assert isinstance(payload, Part)
        payload.depth = self.depth + 1
        if payload.depth > MAX_DEPTH:
            raise TooMuch("The mail is nested too deeply.")
        super().attach(payload)

    def get_content_type(self) -> str:
        """A mail in a mail is a file: the library would read it."""
        told = super().get_content_type()
        if not told.startswith("message/"):
            return told
        return ENCLOSED if told in ("message/rfc822", "message/global") else REPORT

    def get_boundary(self, failobj: str | None = None) -> str | None:  # type: ignore[override]
        """The library would look up what it is encoded in."""
        told = parameter_of(self, "boundary")[0]
        return told.rstrip() or failobj


class _Bounded(Compat32):
    """Headers are cut: nobody reads more of them."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        value = value[:MAX_HEADER]
        if name[:8].lower() == "content-":
            value = ";".join(value.split(";", MAX_PARAMETERS)[:MAX_PARAMETERS])
        return name, value


def parse(content: bytes) -> Message:
    """A mail in parts. Raises TooMuch."""
    # The library ends a line at each of these.
    lines = content.count(b"\n") + content.count(b"\r") - content.count(b"\r\n")
    if lines > FREE_LINES + len(content) // SHORT_LINE:
        raise TooMuch("The mail has too many lines.")
    return message_from_bytes(content, policy=_Bounded(message_factory=_counted()))


def _counted() -> Callable[..., Part]:
    left = MAX_PARTS

    def make(policy: Compat32 | None = None) -> Part:
        nonlocal left
        left -= 1
        if left < 0:
            raise TooMuch("The mail has too many parts.")
        return Part() if policy is None else Part(policy=policy)

    return make


def parameter_of(part: Message, name: str, header: str = "content-type") -> tuple[str, str]:
    """A parameter of a header, and what it is encoded in. Empty if there is none that can be read."""
    try:
        found = part.get_param(name, "", header)
    except Exception:  # the library fails in several ways on what is no parameter
        return "", ""
    if isinstance(found, tuple):
        return str(found[2]), str(found[0] or "")
    return str(found or ""), ""


def decoded(content: bytes, charset: str) -> str:
    """Letters, in any encoding that mails are written in."""
    for one in (_encoding(charset), "utf_8", "cp1252"):
        try:
            text = content.decode(one, "strict" if one == "utf_8" else "replace")
        except (LookupError, UnicodeError, ValueError):
            continue
        # UTF-7 can say halves of a letter, which nothing stores.
        return _HALF_LETTER.sub("\ufffd", text)
    return content.decode("utf-8", "replace")


def _encoding(charset: str) -> str:
    told = normalize_encoding(charset[:40].encode("ascii", "ignore").decode().strip().lower())
    known = _ENCODINGS.get(told, "utf_8")
    return _MEANT.get(known, known)
