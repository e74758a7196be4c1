"""The pages behind the links of invitations: forms without script, so that joining needs nothing but a browser."""

from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import urlencode

from tertulia.conversations.invitations.words import Words
from tertulia.kernel.endpoint import Reply
from tertulia.kernel.page import show_page

_ACCOUNT = """
<p dir="auto">{invited}</p>
<form method="post" action="/join">
<input type="hidden" name="key" value="{key}">
<p><label>{email_label} <input type="email" value="{email}" readonly autocomplete="username"></label></p>
<p><label>{your_name} <input name="full_name" maxlength="100" required autofocus autocomplete="name"></label></p>
<p><label>{password} <input type="password" name="password" minlength="8" maxlength="100" required
 autocomplete="new-password"></label></p>
<p><button>{button}</button></p>
</form>
"""
_ADDRESS = """
<p>{text}</p>
<form method="post" action="/join/address">
<input type="hidden" name="key" value="{key}">
<p><label>{email_label} <input type="email" name="email" required autofocus autocomplete="email"></label></p>
<p><button>{button}</button></p>
</form>
"""
Ways = Sequence[Mapping[str, str | None]]


def account_form(words: Words, realm_name: str, key: str, email: str, inviter: str | None, ways: Ways) -> Reply:
    """For who has a key from their mail."""
    invited = (words.invited_by if inviter else words.welcome).format(inviter=inviter, realm=realm_name)
    body = _ACCOUNT.format(
        invited=escape(invited),
        key=escape(key),
        email=escape(email),
        email_label=escape(words.email),
        your_name=escape(words.your_name),
        password=escape(words.password),
        button=escape(words.create_account),
    )
    return _page(words, realm_name, body + _links(words, ways, key))


def address_form(words: Words, realm_name: str, key: str | None, ways: Ways) -> Reply:
    """For who has not told their address yet."""
    body = _ADDRESS.format(
        text=escape(words.tell_address),
        key=escape(key or ""),
        email_label=escape(words.email),
        button=escape(words.send_link),
    )
    return _page(words, realm_name, body + _links(words, ways, key))


def ways_only(words: Words, realm_name: str, key: str, ways: Ways) -> Reply:
    """Where there are no passwords."""
    return _page(words, realm_name, _links(words, ways, key) or f"<p>{escape(words.elsewhere)}</p>")


def _links(words: Words, ways: Ways, key: str | None) -> str:
    """Identity providers, which know people's addresses already."""
    asked = f"?{urlencode({'invitation': key})}" if key else ""
    return "".join(
        f'<p><a href="{escape(str(way["signup_url"]) + asked)}">'
        f"{escape(words.join_with.format(provider=way['display_name']))}</a></p>"
        for way in ways
    )


def _page(words: Words, realm_name: str, body: str) -> Reply:
    # Our own forms need a referrer, or browsers would not say where they come from.
    return show_page(words.join.format(realm=realm_name), body, referrer="same-origin", language=words.language)
