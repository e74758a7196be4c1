"""Plain pages for people who come by a link: one form or one sentence.

No script, nothing from elsewhere, nobody's frame. The address may hold a secret, so no other site learns it by a referrer.
"""

from html import escape

from tertulia.kernel.reply import Reply

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title></head>
<body><main><h1>{title}</h1>{body}</main></body>
</html>
"""
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
}


def show_page(title: str, body: str, status: int = 200, *, referrer: str = "no-referrer") -> Reply:
    """A page with this HTML; what the referrer policy is may matter to its forms."""
    text = _PAGE.format(title=escape(title), body=body)
    return Reply(text.encode(), status, _HEADERS | {"Referrer-Policy": referrer}, "text/html; charset=utf-8")


def show_text(title: str, text: str, status: int = 200) -> Reply:
    """A page with one sentence."""
    return show_page(title, f"<p>{escape(text)}</p>", status)
