"""The pages behind links in mails: a form for a new password, a button for a new address.

No script, nothing from elsewhere, no referrer. The link alone does nothing: programs that look at mails follow links.
"""

from html import escape

from tertulia.kernel.endpoint import Reply

_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title></head>
<body>
<main>
<h1>{title}</h1>
<p>{realm}</p>
<form method="post" action="/accounts/password/reset/confirm">
<input type="hidden" name="token" value="{token}">
<p><label>New password <input type="password" name="new_password" minlength="8" maxlength="100" required
 autocomplete="new-password" autofocus></label></p>
<p><button>Set password</button></p>
</form>
</main>
</body>
</html>
"""
_CONFIRM = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title></head>
<body>
<main>
<h1>{title}</h1>
<p>{realm}</p>
<form method="post" action="/accounts/email/confirm">
<input type="hidden" name="token" value="{token}">
<p><button autofocus>Use this address</button></p>
</form>
</main>
</body>
</html>
"""
_DONE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title></head>
<body><main><h1>{title}</h1><p>{text}</p></main></body>
</html>
"""
_HTML = "text/html; charset=utf-8"
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
}


def form(realm_name: str, token: str) -> Reply:
    """The form."""
    page = _PAGE.format(title="Choose a new password", realm=escape(realm_name), token=escape(token))
    return Reply(page.encode(), headers=_HEADERS, content_type=_HTML)


def confirmation(realm_name: str, token: str) -> Reply:
    """The button."""
    page = _CONFIRM.format(title="Confirm your new address", realm=escape(realm_name), token=escape(token))
    return Reply(page.encode(), headers=_HEADERS, content_type=_HTML)


def told(title: str, text: str, status: int = 200) -> Reply:
    """A page with one sentence."""
    page = _DONE.format(title=escape(title), text=escape(text))
    return Reply(page.encode(), status, _HEADERS, _HTML)
