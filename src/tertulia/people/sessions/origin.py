"""Where a request comes from, by what the browser says (pure). Other programs say nothing, and are no danger here."""

from tertulia.kernel.call import Call
from tertulia.kernel.settings import Settings
from tertulia.kernel.urls import split_url
from tertulia.people.users.authentication.actions import csrf_failed

MAX_NEXT_LENGTH = 2000


def check_same_origin(call: Call, settings: Settings) -> None:
    """Refuse what a page of another origin sent: it could log its reader in as somebody else."""
    origin = call.header("origin")
    if is_led_here(call):
        raise csrf_failed("The request comes from a page of another site.")
    if origin is not None and not _is_ours(origin, call, settings):
        raise csrf_failed("The Origin header names another site.")


def is_led_here(call: Call) -> bool:
    """Whether a page of another site led the browser here. Then nothing may begin that the person did not ask for."""
    return call.header("sec-fetch-site") not in (None, "same-origin", "none")


def _is_ours(origin: str, call: Call, settings: Settings) -> bool:
    if origin == settings.url_of(call.subdomain or ""):
        return True
    try:
        return split_url(origin).netloc.lower() == (call.header("host") or "").lower() != ""
    except ValueError:
        return False


def local_path(text: str | None) -> str:
    """Where to go after the login: a path of this site, or else its front page.

    Browsers take a backslash for a slash and drop control characters, and two slashes begin the name of a host.
    """
    is_path = text is not None and text.startswith("/") and len(text) <= MAX_NEXT_LENGTH
    if not is_path or text is None or text[1:2] == "/" or not all("!" <= char <= "~" and char != "\\" for char in text):
        return "/"
    return text
