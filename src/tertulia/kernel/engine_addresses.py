"""Addresses of the engines, as the settings give them: what leaves this machine is encrypted and checked, unless they say
otherwise.

PostgreSQL's libraries would take TLS if they can get it, and believe any certificate. NATS's takes what the greeting says.
"""

import ipaddress
from urllib.parse import parse_qsl, urlencode

from tertulia.kernel.urls import split_url

VERIFYING = ("verify-ca", "verify-full")


def is_on_this_machine(host: str) -> bool:
    """Whether nobody else can listen on the way."""
    if host in ("", "localhost") or host.startswith("/"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def hosts_of(url: str) -> list[str]:
    """The hosts of an address, which may name several with commas between them."""
    netloc = split_url(url).netloc.rpartition("@")[2]
    return [_host(part.strip()) for part in netloc.split(",")]


def single_host_urls(url: str) -> list[str]:
    """The address of PostgreSQL once for each host that it names, in their order. Only the primary of several will do."""
    parts = split_url(url)
    options = dict(parse_qsl(parts.query))
    user, at, hosts = parts.netloc.rpartition("@")
    names = options.get("host", "").split(",") if not hosts else hosts.split(",")
    if len(names) == 1:
        return [url]
    options.setdefault("target_session_attrs", "primary")
    if hosts:
        return [parts._replace(netloc=f"{user}{at}{name}", query=urlencode(options)).geturl() for name in names]
    ports = options.pop("port", "5432").split(",")
    ports = ports * len(names) if len(ports) == 1 else ports
    each = [options | {"host": name, "port": port} for name, port in zip(names, ports, strict=True)]
    return [parts._replace(query=urlencode(one)).geturl() for one in each]


def nats_servers(url: str) -> list[str]:
    """The servers of `nats_url`: several of a cluster have commas between them."""
    return [part.strip() for part in url.split(",") if part.strip()]


def checked_postgres_url(url: str) -> str:
    """The address with `sslmode=verify-full`, if it leads elsewhere and says nothing of TLS itself."""
    options = dict(parse_qsl(split_url(url).query))
    hosts = options["host"].split(",") if "host" in options else hosts_of(url)
    if "sslmode" in options or all(is_on_this_machine(host) for host in hosts):
        return url
    return f"{url}{'&' if split_url(url).query else '?'}sslmode=verify-full"


def postgres_trust(url: str) -> str:
    """What is known of the connection, for the doctor."""
    mode = dict(parse_qsl(split_url(url).query)).get("sslmode", "")
    if mode in VERIFYING:
        return "TLS, certificate checked"
    return "on this machine" if all(is_on_this_machine(host) for host in hosts_of(url)) else f"sslmode={mode}"


def _host(part: str) -> str:
    if part.startswith("["):
        return part[1:].partition("]")[0]
    return part.partition(":")[0]
