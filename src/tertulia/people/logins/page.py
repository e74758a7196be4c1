"""The pages behind links in mails: a form for a new password, a button for a new address.

The link alone does nothing: programs that look at mails follow links.
"""

from html import escape

from tertulia.kernel.endpoint import Reply
from tertulia.kernel.errors import Refusal
from tertulia.kernel.page import show_page
from tertulia.people.logins.words import Words

_FORM = """
<p dir="auto">{realm}</p>
{problem}
<form method="post" action="/accounts/password/reset/confirm">
<input type="hidden" name="token" value="{token}">
<p><label>{your_address} <input type="email" value="{email}" readonly autocomplete="username"></label></p>
<p><label>{new_password} <input type="password" name="new_password" minlength="8" maxlength="100" required
 autocomplete="new-password" autofocus></label></p>
<p><button>{button}</button></p>
</form>
"""
_BUTTON = """
<p dir="auto">{realm}</p>
<form method="post" action="/accounts/email/confirm">
<input type="hidden" name="token" value="{token}">
<p><button autofocus>{button}</button></p>
</form>
"""


def form(words: Words, realm_name: str, token: str, email: str, refusal: Refusal | None = None) -> Reply:
    """The form. The address is shown to whoever has the token, who can take the account anyway; password managers keep it.

    `refusal`: of the password that was tried before.
    """
    text = _FORM.format(
        realm=escape(realm_name),
        problem=f'<p role="alert">{escape(refusal.msg)}</p>' if refusal else "",
        token=escape(token),
        email=escape(email),
        your_address=escape(words.your_address),
        new_password=escape(words.new_password),
        button=escape(words.set_password),
    )
    return show_page(words.choose_password, text, refusal.status if refusal else 200, language=words.language)


def is_spent(words: Words, *, by_mail: bool) -> Reply:
    """What a link shows that was used, is too old, or never was one; `by_mail`: whether another one comes by mail."""
    way = words.by_mail if by_mail else words.by_operator
    text = f"<p>{_with_link(words, words.link_spent_text)}</p><p>{escape(way)}</p>"
    return show_page(words.link_spent, text, 400, language=words.language)


def is_set(words: Words) -> Reply:
    """What follows the form."""
    return show_page(
        words.password_set, f"<p>{_with_link(words, words.password_set_text)}</p>", language=words.language
    )


def confirmation(words: Words, realm_name: str, token: str) -> Reply:
    """The button."""
    text = _BUTTON.format(realm=escape(realm_name), token=escape(token), button=escape(words.agree))
    return show_page(words.confirm_address, text, language=words.language)


def _with_link(words: Words, text: str) -> str:
    return escape(text).format(log_in=f'<a href="/">{escape(words.log_in)}</a>')
