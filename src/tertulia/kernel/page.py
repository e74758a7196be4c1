"""Plain pages for people who come by a link: one form or one sentence.

No script, nothing from elsewhere, nobody's frame. The address may hold a secret, so no other site learns it by a referrer.
The one style that the policy lets in is ours, by its hash; it looks as the web client does (web/src/ui/tokens.css).
"""

import hashlib
from base64 import b64encode
from html import escape

from tertulia.kernel.languages import direction_of
from tertulia.kernel.reply import Reply

_STYLE = """
:root { color-scheme: light dark; --accent: light-dark(oklch(0.525 0.14 40), oklch(0.755 0.115 50)); }
* { box-sizing: border-box; }
body {
    margin: 0; padding: 10vh 16px 48px; font: 16px/1.5 'Noto Sans', system-ui, sans-serif;
    background: light-dark(oklch(0.966 0.008 80), oklch(0.178 0.007 60));
    color: light-dark(oklch(0.255 0.012 60), oklch(0.915 0.008 80));
}
main {
    max-width: 26rem; margin: 0 auto; padding: 24px 32px; overflow-wrap: anywhere; border-radius: 10px;
    background: light-dark(oklch(1 0 0), oklch(0.25 0.008 60));
    border: 1px solid light-dark(oklch(0.908 0.009 80), oklch(0.315 0.01 60));
}
h1 { margin: 0 0 8px; font-size: 1.5rem; line-height: 1.25; }
p { margin: 16px 0; }
a { color: var(--accent); }
label > input:not([type=checkbox]), select {
    display: block; width: 100%; min-height: 44px; margin-top: 4px; padding: 8px 12px; border-radius: 6px;
    font: inherit; color: inherit; background: light-dark(oklch(0.988 0.005 80), oklch(0.205 0.007 60));
    border: 1px solid light-dark(oklch(0.61 0.012 70), oklch(0.58 0.012 70));
}
label > input[readonly]:not([type=checkbox]) { background: none; border-style: dashed; }
button {
    width: 100%; min-height: 44px; border: 0; border-radius: 6px; font: inherit; font-weight: 600; cursor: pointer;
    background: var(--accent); color: light-dark(oklch(0.995 0.004 80), oklch(0.2 0.02 45));
}
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
"""
_STYLE_HASH = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_PAGE = """<!doctype html>
<html lang="{language}" dir="{direction}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>{style}</style></head>
<body><main><h1>{title}</h1>{body}</main></body>
</html>
"""
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'; "
    "frame-ancestors 'none'; base-uri 'none'",
}


def show_page(
    title: str, body: str, status: int = 200, *, referrer: str = "no-referrer", language: str = "en"
) -> Reply:
    """A page with this HTML; what the referrer policy is may matter to its forms."""
    text = _PAGE.format(
        title=escape(title), style=_STYLE, body=body, language=language, direction=direction_of(language)
    )
    return Reply(text.encode(), status, _HEADERS | {"Referrer-Policy": referrer}, "text/html; charset=utf-8")


def show_text(title: str, text: str, status: int = 200, *, language: str = "en") -> Reply:
    """A page with one sentence. It may be one of ours in English, where an API call was refused: so its own way to run."""
    return show_page(title, f'<p dir="auto">{escape(text)}</p>', status, language=language)
