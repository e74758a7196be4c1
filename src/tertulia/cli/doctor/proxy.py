"""What `tertulia doctor` says of the proxy in front: whether it names its clients, and whether it is believed.

Settings alone do not tell, so a running web process is asked what came (`tertulia_forwarded_requests` among its metrics).
"""

import http.client
import ipaddress
import re

from tertulia.cli.errors import CommandFailed
from tertulia.kernel.settings import Settings

ENOUGH = 20
"""Requests that say nothing; fewer may be somebody on this machine who tries the server by hand."""
_counted = re.compile(r'^tertulia_forwarded_requests\{said="(\w+)"\} ([\d.e+]+)$', re.MULTILINE)


def look_at_proxy(settings: Settings) -> str:
    """What holds; raises for what is wrong."""
    from tertulia.server.proxies import proxies_of

    proxies_of(settings.trusted_proxies)
    parts = [part.strip() for part in settings.trusted_proxies.split(",") if part.strip()]
    if any(ipaddress.ip_network(part).prefixlen == 0 for part in parts):
        raise CommandFailed(
            "trusted_proxies names the whole internet: anybody can choose the address that rate limits count by"
        )
    counts = _counts(settings)
    believed = f"{', '.join(parts)} may name clients" if parts else "nobody may name clients"
    if counts is None:
        return f"{believed}; no web process tells what came (TERTULIA_METRICS_PORT says where to ask)"
    check_counts(counts, is_public=settings.external_scheme == "https")
    return f"{believed}; {counts.get('named', 0):.0f} requests were for clients that they named"


def check_counts(counts: dict[str, float], *, is_public: bool) -> None:
    """Raise for what came if it means that clients cannot be told apart."""
    if counts.get("named"):
        return
    if lost := counts.get("disbelieved"):
        raise CommandFailed(
            f"{lost:.0f} requests named a client in X-Forwarded-For, all from addresses that trusted_proxies does not name"
            " -- if those are your proxies, name them: all their clients share one rate limit now"
        )
    silent = counts.get("silent", 0)
    if is_public and silent >= ENOUGH:
        raise CommandFailed(
            f"{silent:.0f} requests came from a proxy and none had X-Forwarded-For -- let the proxy set it:"
            " all clients share one rate limit now"
        )


def _counts(settings: Settings) -> dict[str, float] | None:
    """Of the web process of `tertulia serve`, or of one that runs by itself."""
    if not settings.metrics_port:
        return None
    for port in (settings.metrics_port + 2, settings.metrics_port):
        connection = http.client.HTTPConnection(settings.metrics_host, port, timeout=5)
        try:
            connection.request("GET", "/metrics")
            found = _counted.findall(connection.getresponse().read().decode())
        except (OSError, http.client.HTTPException):
            continue
        finally:
            connection.close()
        if found:
            return {said: float(count) for said, count in found}
    return None
