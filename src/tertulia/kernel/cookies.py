"""Cookies: reading one, and the header line that sets one.

Ours belong to one host and to no script: `HttpOnly`, `SameSite=Lax`, no domain. Over https their names begin with
`__Host-`, so that no other host under the same domain can plant one.
"""

from tertulia.kernel.call import Call
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.settings import Settings

SESSION = "tertulia_session"
MAX_TOKEN_LENGTH = 100


def find_cookie(call: Call, name: str, settings: Settings) -> str | None:
    """The value of one of our cookies, if the request carries it."""
    wanted = _name(name, settings)
    for pair in (call.header("cookie") or "").split(";"):
        found, _, value = pair.strip().partition("=")
        if found == wanted and value:
            return value
    return None


def cookie_line(name: str, value: str, settings: Settings, max_age: int) -> str:
    """The value of a Set-Cookie header. A `max_age` of 0 takes the cookie away."""
    secure = "; Secure" if settings.external_scheme == "https" else ""
    return f"{_name(name, settings)}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}"


def session_digest(call: Call, settings: Settings) -> bytes | None:
    """What is stored of the browser session that a request carries; None if it has credentials of another kind."""
    if b"authorization" in call.raw_headers:
        return None
    token = find_cookie(call, SESSION, settings)
    return digest_of_key(token) if token and len(token) <= MAX_TOKEN_LENGTH else None


def keep_session_cookie(call: Call, token: str, settings: Settings) -> None:
    """Let the browser keep its session for another while."""
    call.set_header("set-cookie", cookie_line(SESSION, token, settings, settings.session_idle_seconds))


def drop_session_cookie(call: Call, settings: Settings) -> None:
    """Let the browser forget its session."""
    call.set_header("set-cookie", cookie_line(SESSION, "", settings, 0))


def _name(name: str, settings: Settings) -> str:
    return f"__Host-{name}" if settings.external_scheme == "https" else name
