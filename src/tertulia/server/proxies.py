"""Proxies in front of us: whose word about a client's address counts.

Rate limits and the log hang on the client's address. A proxy writes it into `X-Forwarded-For`, and so can anybody: only addresses
that the operator named are believed. Each proxy adds whom it heard from at the right, so the client is the first from the right
that is no proxy of ours; what stands left of it, the client may have written itself.

What came is counted, so that `tertulia doctor` can tell a proxy that says nothing, and one that nobody named.
"""

import ipaddress
from collections.abc import Iterable
from functools import lru_cache

from tertulia.kernel.public_addresses import Address, Network, meant_by
from tertulia.kernel.settings import SettingsError

SCHEMES = (b"http", b"https")
_MAX_ADDRESS = 64
"""Longer ones are not looked at: an IPv6 address in brackets with its zone and port is shorter."""


class Proxies:
    """The proxies that an operator named, and what came of them."""

    def __init__(self, networks: Iterable[Network] = ()) -> None:
        self._networks = tuple(networks)
        self._is_trusted = lru_cache(maxsize=4096)(self._looked_up)
        self.named_client = 0
        """Requests of a proxy of ours that said for whom it asks."""
        self.silent = 0
        """Requests from an address of a proxy that did not."""
        self.disbelieved = 0
        """Requests from elsewhere that named a client: of a proxy that is missing in the setting, or of somebody who tries."""

    def trusts(self, address: str) -> bool:
        """Whether this is a proxy of ours."""
        return bool(self._networks) and self._is_trusted(address)

    def client_of(self, peer: str, headers: Iterable[tuple[bytes, bytes]]) -> tuple[str, str | None]:
        """Whom a proxy asks for, and by which scheme they came. The peer itself, if it does not say."""
        named: list[bytes] = []
        scheme = None
        for name, value in headers:
            if name == b"x-forwarded-for":
                named += value.split(b",")
            elif name == b"x-forwarded-proto" and value.strip().lower() in SCHEMES:
                scheme = value.strip().lower().decode()
        if named:
            self.named_client += 1
        else:
            self.silent += 1
        client = peer
        for text in reversed(named):
            address = read_address(text)
            if address is None:
                break  # whoever wrote that is the last one we know
            client = str(address)
            if not self._is_trusted(client):
                break
        return client, scheme

    def _looked_up(self, address: str) -> bool:
        try:
            meant = meant_by(ipaddress.ip_address(address))
        except ValueError:
            return False
        return any(meant in network for network in self._networks if network.version == meant.version)


def proxies_of(text: str) -> Proxies:
    """From the setting: addresses and networks with commas between them."""
    try:
        return Proxies(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise SettingsError(f"trusted_proxies: {error}") from error


def read_address(text: bytes) -> Address | None:
    """An entry of X-Forwarded-For; some proxies write the port as well."""
    if len(text) > _MAX_ADDRESS:
        return None
    entry = text.decode("latin-1").strip()
    if entry.startswith("["):
        entry = entry[1:].partition("]")[0]
    elif entry.count(":") == 1:
        entry = entry.partition(":")[0]
    try:
        return meant_by(ipaddress.ip_address(entry))
    except ValueError:
        return None
