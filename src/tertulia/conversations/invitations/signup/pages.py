"""The pages behind the links of invitations: forms without script, so that joining needs nothing but a browser."""

from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import urlencode

from tertulia.kernel.endpoint import Reply
from tertulia.kernel.page import show_page

_ACCOUNT = """
<p>{invited}</p>
<form method="post" action="/join">
<input type="hidden" name="key" value="{key}">
<p><label>Email <input type="email" value="{email}" readonly autocomplete="username"></label></p>
<p><label>Your name <input name="full_name" maxlength="100" required autofocus autocomplete="name"></label></p>
<p><label>Password <input type="password" name="password" minlength="8" maxlength="100" required
 autocomplete="new-password"></label></p>
<p><button>Make my account</button></p>
</form>
"""
_ADDRESS = """
<p>Tell us your email address: we send you a link there.</p>
<form method="post" action="/join/address">
<input type="hidden" name="key" value="{key}">
<p><label>Email <input type="email" name="email" required autofocus autocomplete="email"></label></p>
<p><button>Send me a link</button></p>
</form>
"""
Ways = Sequence[Mapping[str, str | None]]


def account_form(realm_name: str, key: str, email: str, inviter: str | None, ways: Ways) -> Reply:
    """For who has a key from their mail."""
    invited = f"{inviter} invites you to {realm_name}." if inviter else f"Welcome to {realm_name}."
    body = _ACCOUNT.format(invited=escape(invited), key=escape(key), email=escape(email))
    return _page(realm_name, body + _links(ways, key))


def address_form(realm_name: str, key: str | None, ways: Ways) -> Reply:
    """For who has not told their address yet."""
    return _page(realm_name, _ADDRESS.format(key=escape(key or "")) + _links(ways, key))


def ways_only(realm_name: str, key: str, ways: Ways) -> Reply:
    """Where there are no passwords."""
    return _page(realm_name, _links(ways, key) or "<p>Log in as you do elsewhere in your organization.</p>")


def _links(ways: Ways, key: str | None) -> str:
    """Identity providers, which know people's addresses already."""
    asked = f"?{urlencode({'invitation': key})}" if key else ""
    return "".join(
        f'<p><a href="{escape(str(way["signup_url"]) + asked)}">Join with {escape(str(way["display_name"]))}</a></p>'
        for way in ways
    )


def _page(realm_name: str, body: str) -> Reply:
    # Our own forms need a referrer, or browsers would not say where they come from.
    return show_page(f"Join {realm_name}", body, referrer="same-origin")
