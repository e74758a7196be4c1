"""Who is the client when a proxy asks for it, and when somebody only says so."""

from collections.abc import Iterator

import httpx
import pytest

from tertulia.kernel.settings import Settings, SettingsError
from tertulia.server.proxies import Proxies, proxies_of
from tertulia.server.web import hsts_headers
from tests.harness.demo_api import Demo, served

PROXY, OTHER = "127.0.0.5", "127.0.0.9"


@pytest.fixture(scope="module")
def proxies() -> Proxies:
    return proxies_of(f"{PROXY}, 10.0.0.0/8, fd00::/64")


@pytest.fixture(scope="module")
def behind(proxies: Proxies) -> Iterator[Demo]:
    with served(Demo(), proxies=proxies) as demo:
        yield demo


def seen(demo: Demo, address: str, *headers: tuple[str, str]) -> tuple[str, str]:
    """Which address and scheme the server takes for the client's."""
    with httpx.Client(transport=httpx.HTTPTransport(local_address=address), trust_env=False) as client:
        body = client.get(f"http://127.0.0.1:{demo.port}/api/v1/peer", headers=list(headers)).json()
    return body["peer"], body["scheme"]


@pytest.mark.parametrize(
    ("forwarded", "client"),
    [
        (["203.0.113.7"], "203.0.113.7"),
        (["198.51.100.1, 203.0.113.7"], "203.0.113.7"),
        (["198.51.100.1", "203.0.113.7"], "203.0.113.7"),
        (["203.0.113.7, 10.1.2.3"], "203.0.113.7"),
        (["203.0.113.7, 10.1.2.3, 127.0.0.5"], "203.0.113.7"),
        (["1.1.1.1, 203.0.113.7,10.1.2.3"], "203.0.113.7"),
        (["203.0.113.7:4711"], "203.0.113.7"),
        (["[2001:db8::7]:4711"], "2001:db8::7"),
        (["2001:db8::7, fd00::3"], "2001:db8::7"),
        (["::ffff:203.0.113.7"], "203.0.113.7"),
        (["10.9.9.9, 10.1.2.3"], "10.9.9.9"),
        (["unknown"], PROXY),
        (["203.0.113.7, nonsense"], PROXY),
        (["203.0.113.7, nonsense, 10.1.2.3"], "10.1.2.3"),
        ([""], PROXY),
        (["203.0.113.7, " + "9" * 5000], PROXY),
    ],
)
def test_the_client_is_the_rightmost_address_that_is_no_proxy(behind: Demo, forwarded: list[str], client: str) -> None:
    assert seen(behind, PROXY, *(("X-Forwarded-For", each) for each in forwarded))[0] == client


def test_nobody_else_is_believed(behind: Demo) -> None:
    forged = (("X-Forwarded-For", "203.0.113.7"), ("X-Forwarded-Proto", "https"))
    assert seen(behind, OTHER, *forged) == (OTHER, "http")
    assert seen(behind, PROXY, *forged) == ("203.0.113.7", "https")
    assert seen(behind, PROXY, ("X-Forwarded-Proto", "gopher")) == (PROXY, "http")


def test_what_proxies_said_is_counted(behind: Demo, proxies: Proxies) -> None:
    before = (proxies.named_client, proxies.silent, proxies.disbelieved)
    seen(behind, PROXY, ("X-Forwarded-For", "203.0.113.7"))
    seen(behind, PROXY)
    seen(behind, OTHER, ("X-Forwarded-For", "203.0.113.7"))
    seen(behind, OTHER)
    now = (proxies.named_client, proxies.silent, proxies.disbelieved)
    assert [after - was for after, was in zip(now, before, strict=True)] == [1, 1, 1]


def test_without_proxies_nobody_is_believed() -> None:
    with served(Demo(), proxies=proxies_of("")) as demo:
        assert seen(demo, PROXY, ("X-Forwarded-For", "203.0.113.7"))[0] == PROXY


@pytest.mark.parametrize("text", ["proxy.example.com", "10.0.0.0/99", "10.0.0.1/8", "*"])
def test_what_is_no_address_is_no_proxy(text: str) -> None:
    with pytest.raises(SettingsError, match="trusted_proxies"):
        proxies_of(text)


def test_browsers_are_told_to_come_with_tls_where_they_can() -> None:
    assert hsts_headers(Settings(external_scheme="http")) == []
    assert hsts_headers(Settings(external_scheme="https", hsts="")) == []
    assert hsts_headers(Settings(external_scheme="https")) == [("strict-transport-security", "max-age=31536000")]
    for text in ("max-age=x", "max-age=1\r\nX: y", "includeSubDomains"):
        with pytest.raises(SettingsError, match="hsts"):
            Settings(hsts=text)
