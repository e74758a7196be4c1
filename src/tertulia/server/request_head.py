"""What must hold of a request's headers before anybody acts on them.

A header that decides who calls, which organization is meant or how the body is read comes once: of two, a proxy in front
might have believed the other. The organization is found by `Host` (kernel/call.py), so that must be a host and nothing else,
and an address that names a host itself must name the same.
"""

import re
from functools import lru_cache

from tertulia.kernel.errors import Refusal
from tertulia.kernel.urls import split_url

ONCE = frozenset(
    {
        b"authorization",
        b"content-length",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"origin",
        b"transfer-encoding",
        b"x-csrf-token",
        b"x-forwarded-proto",
    }
)
MAX_HOST = 255
_LABEL = rb"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_host = re.compile(rb"(?:%b(?:\.%b)*\.?|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?" % (_LABEL, _LABEL))


def check_head(headers: list[tuple[bytes, bytes]], target: bytes, version: str) -> None:
    """Refuse headers that could be understood in two ways."""
    found = dict(headers)
    if len(found) < len(headers):
        names = [name for name, _ in headers]
        for name in ONCE.intersection(names):
            if names.count(name) > 1:
                raise Refusal(f"The header {name.decode().title()} came more than once")
    host = found.get(b"host")
    if host is None:
        if version != "1.0":
            raise Refusal("The header Host is missing")
    elif not is_host(host):
        raise Refusal("The header Host is not a host")
    if not target.startswith(b"/") and target != b"*":
        _check_absolute(target, host)


@lru_cache(maxsize=1024)
def is_host(value: bytes) -> bool:
    """Whether this is a name or an address, perhaps with a port."""
    return len(value) <= MAX_HOST and _host.fullmatch(value) is not None


def _check_absolute(target: bytes, host: bytes | None) -> None:
    """`GET http://host/path`: proxies are asked like that, and we may be taken for one."""
    try:
        named = split_url(target.decode("latin-1")).netloc
    except ValueError:
        raise Refusal("The address of the request is not valid") from None
    if host is None or named.lower() != host.decode("latin-1").lower():
        raise Refusal("The address of the request names another host than the header Host")
