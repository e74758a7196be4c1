"""The two ways to the web process that `tertulia doctor` looks at: directly, and through the proxy."""

import http.client
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tertulia.kernel.settings import Settings


@contextmanager
def directly(settings: Settings, seconds: float) -> Iterator[http.client.HTTPConnection]:
    """To our own process, without a proxy."""
    here = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    with closing(http.client.HTTPConnection(here, settings.port, timeout=seconds)) as connection:
        yield connection


@contextmanager
def connected(settings: Settings, seconds: float) -> Iterator[http.client.HTTPConnection]:
    """To the public address, as clients come."""
    kind = http.client.HTTPSConnection if settings.external_scheme == "https" else http.client.HTTPConnection
    with closing(kind(settings.external_host, timeout=seconds)) as connection:
        yield connection
