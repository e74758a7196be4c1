"""How a mail looks (pure): tables and styles in place, because many mail programs know nothing else.

Some programs read the media query for dark screens, some invert colours by themselves: so no pure black or white, and no
picture. It fits a phone because nothing is wider than it may be. Styles are written where they count: with a dozen kinds of
elements, a library that puts a style sheet into them would be more than the style sheet.
"""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from tertulia.kernel.languages import direction_of

_FONT = "font-family:-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif"
_TABLE = '<table role="presentation"'
_DARK = """
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .outer { background: #15181d !important; }
  .card { background: #1f242b !important; border-color: #363d47 !important; }
  .text, .text p, .title { color: #e4e7eb !important; }
  .quiet, .quiet a { color: #a3abb6 !important; }
  .text a { color: #8ab4f8 !important; }
}
@media (max-width: 480px) { .outer { padding: 0 !important; } .card { border-radius: 0 !important; } }
"""


class Part(NamedTuple):
    """One message of a mail."""

    head: str
    """Who said it, and when."""
    kind: str
    """Empty, or the words above a run of messages that were only said before."""
    html: str
    text: str


def page(
    language: str,
    title: str,
    parts: Sequence[Part],
    more: str,
    button: tuple[str, str],
    ends: Sequence[tuple[str, str]],
    said: Sequence[str],
    above: str = "",
) -> str:
    """The whole HTML of a mail. `above`: the line above which an answer is written."""
    inner = [_row(_quiet(escape(above)))] if above else []
    inner += [_row(f'<span class="title" style="font-size:18px;font-weight:600;color:#1f2328">{escape(title)}</span>')]
    kind = ""
    for part in parts:
        if part.kind and part.kind != kind:
            inner.append(_row(_quiet(escape(part.kind))))
        kind = part.kind
        inner.append(_row(_message(part)))
    if more:
        inner.append(_row(_quiet(escape(more))))
    inner += [_row(_button(*button)), _row(_foot(ends, said))]
    return (
        f'<!doctype html><html lang="{language}" dir="{direction_of(language)}"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
        f"<title>{escape(title)}</title><style>{_DARK}</style></head>"
        f'<body class="outer" style="margin:0;padding:0;background:#f2f4f7;{_FONT}">'
        f'{_TABLE} class="outer" width="100%" cellpadding="0" cellspacing="0" style="background:#f2f4f7;'
        'padding:16px"><tr><td align="center">'
        f'{_TABLE} class="card" width="100%" cellpadding="0" cellspacing="0" style="max-width:600px;'
        f'background:#fdfdfd;border:1px solid #dfe3e8;border-radius:8px;text-align:start">{"".join(inner)}</table>'
        "</td></tr></table></body></html>"
    )


def _row(html: str) -> str:
    return f'<tr><td style="padding:12px 20px;{_FONT}">{html}</td></tr>'


def _quiet(html: str) -> str:
    return f'<span class="quiet" style="font-size:13px;color:#5d6673">{html}</span>'


def _message(part: Part) -> str:
    who, _, when = part.head.partition(" · ")
    head = (
        f'<div class="text" style="font-size:14px;font-weight:600;color:#1f2328;margin:0 0 4px">{escape(who)} '
        f'<span class="quiet" style="font-size:12px;font-weight:400;color:#5d6673">{escape(when)}</span></div>'
    )
    style = "font-size:15px;line-height:1.45;color:#1f2328;word-break:break-word"
    faded = ";opacity:0.7" if part.kind else ""
    return f'{head if part.head else ""}<div class="text" style="{style}{faded}">{part.html}</div>'


def _button(words: str, address: str) -> str:
    return (
        f'<a href="{escape(address)}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#2563c9;'
        f'color:#fdfdfd;font-size:15px;font-weight:600;text-decoration:none">{escape(words)}</a>'
    )


def _foot(ends: Sequence[tuple[str, str]], said: Sequence[str]) -> str:
    links = "<br>".join(
        f'<a class="quiet" href="{escape(address)}" style="color:#5d6673">{escape(words)}</a>'
        for words, address in ends
    )
    told = " ".join(map(escape, said))
    return f'<div class="quiet" style="font-size:12px;line-height:1.6;color:#5d6673">{told}<br>{links}</div>'
