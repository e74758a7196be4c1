"""What somebody wrote in a mail, without what they answered and without their signature (pure).

It goes by lines, in time that grows with the length. What is quoted goes, unless answers stand between quotations: then these
are part of what is said. If in doubt, a line stays.
"""

import re
from typing import NamedTuple

from tertulia.notifications.mail_in.html_text import CUT

MARK = "=##="
"""At both ends of the line in our mails above which an answer is written."""
_LOOK_BACK = 4
"""An introduction of a quotation is at most so many lines long: mail programs break it."""
_MAX_LINE = 2000
"""Longer ones are nothing but text."""

_STARTS = r"(?:on|am|le|el|il|op|em|den|dnia|w dniu|dne|på|dia|dana|от|в|на)\b|\w+, |\d{4}[-./年]|\d{1,2}[-. /]"
_WROTE = (
    "wrote|writes|said|schrieb|geschrieben|a écrit|écrit|escribió|escribio|ha scritto|scritto|schreef|escreveu|skrev|napisał|"
    "napisała|napisał\\(a\\)|pisze|napsal|napsal\\(a\\)|kirjoitti|írta|yazdı|написал|написала|пише|пишет|napísal|a scris|έγραψε|"
    "写道|のメール|書きました|작성|כתב|كتب|viết"
)
_WROTE_LINE = re.compile(rf"(?:{_STARTS}).{{5,400}}(?:{_WROTE})\b.{{0,60}}[:：]$", re.IGNORECASE)
_LOOSE_WROTE = re.compile(rf"(?:{_WROTE}).{{0,40}}[:：]$", re.IGNORECASE)
_TIME = re.compile(r"\d{1,2}[:.h]\d{2}|\d{4}")
_FROM = frozenset(
    [
        "from",
        "von",
        "de",
        "da",
        "van",
        "från",
        "fra",
        "od",
        "от",
        "lähettäjä",
        "feladó",
        "gönderen",
        "kimden",
        "expéditeur",
        "remitente",
        "mittente",
        "afzender",
        "avsändare",
        "absender",
        "发件人",
        "寄件者",
        "差出人",
        "보낸사람",
        "від",
        "из",
        "de:",
    ]
)
_HEADER = re.compile(r"[*_]{0,2}([^\s:：>*_][^:：>]{0,25}?)[*_]{0,2}\s?[:：][*_]{0,2}\s+\S")
_RULED = re.compile(r"-{3,}\s?\S[^-]{2,50}\S\s?-{3,}")
_UNDERSCORES = re.compile(r"[_*-]{10,}")
_SIGNATURE = re.compile(r"--\s?|—|__")
_PHONE = re.compile(
    r"(?:"
    r"(?:sent|get) (?:from|with|via) .{2,60}"
    r"|get outlook for .{2,60}"
    r"|(?:diese nachricht wurde )?(?:gesendet )?(?:von|mit) (?:meinem|meiner|outlook|der) .{2,60}(?:gesendet|gesendet\.)?"
    r"|gesendet (?:von|mit|aus) .{2,60}"
    r"|diese nachricht wurde von .{2,80} gesendet\.?"
    r"|envoyé (?:de|depuis|à partir|avec) .{2,60}"
    r"|enviado (?:desde|do|de|a partir) .{2,60}"
    r"|inviato da(?:l)? .{2,60}"
    r"|verzonden (?:vanaf|met|via|vanuit) .{2,60}"
    r"|skickat från .{2,60}|sendt fra .{2,60}|lähetetty .{2,60}|wysłane z .{2,60}|отправлено (?:с|из) .{2,60}"
    r"|sent from my .{2,40}|发自我的.{2,40}|.{0,20}iphoneから送信"
    r")",
    re.IGNORECASE,
)
_LINKS = re.compile(r"\[([^\]]*)\]\([^)]*\)|<https?://[^>\s]*>")


class _Run(NamedTuple):
    """Lines one after another that are all quoted, or all not."""

    is_quoted: bool
    lines: list[str]

    @property
    def is_blank(self) -> bool:
        return not any(line.strip() for line in self.lines)


def cut_reply(text: str) -> str:
    """What is new in an answer."""
    lines = text.split("\n")
    end, is_cut = _end(lines)
    runs = [*_runs(lines[:end]), *([_Run(True, [">"])] if is_cut else [])]
    own: list[_Run] = []
    for number, run in enumerate(runs):
        if run.is_quoted:
            own.append(run)
            continue
        kept = _without_introduction(run.lines) if number + 1 < len(runs) else run.lines
        own.append(_Run(False, _without_signature(kept)))
    return _joined(_without_quotations([run for run in own if not run.is_blank]))


def cut_signature(text: str) -> str:
    """All of a text but the signature at its end."""
    return _joined([_Run(False, _without_signature(text.replace(CUT, "").split("\n")))])


def _end(lines: list[str]) -> tuple[int, bool]:
    """Where nothing of one's own follows any more, and whether there is something."""
    for number, raw in enumerate(lines):
        line = raw.strip()
        bare = line.lstrip("> ")
        if not line or len(line) > _MAX_LINE:
            continue
        if line == CUT or (bare.startswith(MARK) and bare.endswith(MARK)) or _is_head(lines, number):
            return _with_rule(lines, number), True
        if line.startswith(">"):
            continue
        if _WROTE_LINE.fullmatch(line) and ("@" in line or _TIME.search(line)) and not _quotes_after(lines, number):
            return number, True
    return len(lines), False


def _is_head(lines: list[str], number: int) -> bool:
    """Whether the head of another mail begins here: Outlook and others put it before what they quote, without any `>`."""
    line = lines[number].strip()
    if _RULED.fullmatch(line):
        return _headers(lines[number + 1 : number + 4]) >= 1
    head = _HEADER.match(line)
    if head is None or (number and lines[number - 1].strip() and not _UNDERSCORES.fullmatch(lines[number - 1].strip())):
        return False
    block = [one.strip() for one in lines[number : number + 7]]
    if "" in block:
        block = block[: block.index("")]
    told = "\n".join(block)
    has_facts = bool(_TIME.search(told))
    if head[1].replace(" ", "").lower() in _FROM:
        return _headers(block) >= 3 and has_facts
    return _headers(block) >= 4 and has_facts and "@" in told


def _headers(lines: list[str]) -> int:
    return sum(_HEADER.match(line.strip()[:200]) is not None for line in lines)


def _with_rule(lines: list[str], number: int) -> int:
    """The line drawn above belongs to what follows."""
    while number and (not lines[number - 1].strip() or _UNDERSCORES.fullmatch(lines[number - 1].strip())):
        number -= 1
    return number


def _quotes_after(lines: list[str], number: int) -> bool:
    following = next((line for line in lines[number + 1 : number + 4] if line.strip()), "")
    return following.lstrip().startswith(">")


def _runs(lines: list[str]) -> list[_Run]:
    """Blank lines between quoted ones are of the quotation."""
    runs: list[_Run] = []
    blanks: list[str] = []
    for line in lines:
        if not line.strip():
            blanks.append(line)
            continue
        is_quoted = line.startswith((">", " >"))
        if runs and runs[-1].is_quoted == is_quoted:
            runs[-1].lines.extend([">"] * len(blanks) if is_quoted else blanks)
        elif not runs or runs[-1].is_quoted != is_quoted:
            runs.append(_Run(is_quoted, []))
        blanks = []
        runs[-1].lines.append(line)
    return runs


def _without_introduction(lines: list[str]) -> list[str]:
    """What mail programs put before a quotation: "On ..., Ann wrote:", in any language."""
    kept = _trimmed(lines)
    if not kept or not kept[-1].rstrip().endswith((":", "：")):
        return lines
    for count in range(1, min(_LOOK_BACK, len(kept)) + 1):
        some = [line.strip() for line in kept[-count:]]
        if "" in some:
            break
        told = " ".join(some)
        if len(told) <= _MAX_LINE and _WROTE_LINE.fullmatch(told):
            return kept[:-count]
    last = kept[-1].strip()
    if len(last) <= _MAX_LINE and (_LOOSE_WROTE.search(last) or ("@" in last and _TIME.search(last))):
        return kept[:-1]
    return lines


def _without_signature(lines: list[str]) -> list[str]:
    for number, line in enumerate(lines):
        if _SIGNATURE.fullmatch(line.rstrip("\r")) or line.strip() == "--":
            lines = lines[:number]
            break
    for _ in range(3):
        lines = _trimmed(lines)
        if lines and len(lines[-1]) <= 300 and _PHONE.fullmatch(_LINKS.sub(r"\1", lines[-1]).strip(" *_")):
            lines = lines[:-1]
    return lines


def _trimmed(lines: list[str]) -> list[str]:
    """Without what is blank at the end, quoted or not."""
    end = len(lines)
    while end and not lines[end - 1].strip(" >\t"):
        end -= 1
    return lines[:end]


def _without_quotations(runs: list[_Run]) -> list[_Run]:
    while runs and runs[-1].is_quoted:
        runs.pop()
    quotations = sum(run.is_quoted for run in runs)
    if quotations == 1 and runs[0].is_quoted:  # the whole mail, and the answer below it
        return runs[1:]
    return runs


def _joined(runs: list[_Run]) -> str:
    """An empty line after each, or what follows a quotation would be part of it."""
    told = "\n\n".join("\n".join(line.rstrip() for line in _trimmed(run.lines)).strip("\n") for run in runs)
    return re.sub(r"\n{3,}", "\n\n", told.replace(CUT, "")).strip("\n").rstrip()
