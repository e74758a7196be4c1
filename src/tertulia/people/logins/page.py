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


def form(realm_name: str, token: str) -> Reply:
    """The form."""
    return show_page("Choose a password", _FORM.format(realm=escape(realm_name), token=escape(token)))


def is_set() -> Reply:
    """What follows the form."""
    return show_page("Your new password is set", '<p>Now <a href="/">log in</a> with it, on all your devices.</p>')


def confirmation(realm_name: str, token: str) -> Reply:
    """The button."""
    return show_page("Confirm your new address", _BUTTON.format(realm=escape(realm_name), token=escape(token)))
