"""The pages behind links in mails: a form for a new password, a button for a new address.

The link alone does nothing: programs that look at mails follow links.
"""

from html import escape

from tertulia.kernel.endpoint import Reply
from tertulia.kernel.page import show_page

_FORM = """
<p>{realm}</p>
<form method="post" action="/accounts/password/reset/confirm">
<input type="hidden" name="token" value="{token}">
<p><label>Your address <input type="email" value="{email}" readonly autocomplete="username"></label></p>
<p><label>New password <input type="password" name="new_password" minlength="8" maxlength="100" required
 autocomplete="new-password" autofocus></label></p>
<p><button>Set password</button></p>
</form>
"""
_BUTTON = """
<p>{realm}</p>
<form method="post" action="/accounts/email/confirm">
<input type="hidden" name="token" value="{token}">
<p><button autofocus>Agree</button></p>
</form>
"""


def form(realm_name: str, token: str, email: str) -> Reply:
    """The form. The address is shown to whoever has the token, who can take the account anyway; password managers keep it."""
    text = _FORM.format(realm=escape(realm_name), token=escape(token), email=escape(email))
    return show_page("Choose a password", text)


def is_spent(way: str) -> Reply:
    """What a link shows that was used, is too old, or never was one; `way`: how to choose a password now."""
    told = "It was used already, or is older than a day. If it was you who used it,"
    text = f'<p>{told} <a href="/">log in</a> with the password that you chose.</p><p>If not: {escape(way)}</p>'
    return show_page("This link is no longer good", text, 400)


def is_set() -> Reply:
    """What follows the form."""
    return show_page("Your new password is set", '<p>Now <a href="/">log in</a> with it, on all your devices.</p>')


def confirmation(realm_name: str, token: str) -> Reply:
    """The button."""
    return show_page("Confirm your new address", _BUTTON.format(realm=escape(realm_name), token=escape(token)))
