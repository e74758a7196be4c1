"""For tests of second factors: a person, a browser, and a device with a passkey. Other modules have browsers of their own."""

from collections.abc import Iterator

import pytest

from tests.harness.browser import Browser, person
from tests.harness.passkeys import Open, PasskeyDevice, add_passkey
from tests.harness.server import Server, User
from tests.harness.stage import Stage


@pytest.fixture
def browser(server: Server) -> Iterator[Open]:
    opened: list[Browser] = []

    def open_one(host: str | None = None, url: str | None = None) -> Browser:
        opened.append(Browser(url or server.url))
        if host:
            opened[-1].http.headers["host"] = host
        return opened[-1]

    try:
        yield open_one
    finally:
        for one in opened:
            one.http.close()


@pytest.fixture
def user(stage: Stage) -> User:
    return person(stage)


@pytest.fixture
def device(server: Server) -> PasskeyDevice:
    return PasskeyDevice(server.url)


@pytest.fixture
def home(browser: Open, user: User, device: PasskeyDevice) -> Browser:
    """A browser where somebody is logged in who has a passkey."""
    one = browser()
    one.log_in(user)
    add_passkey(one, device)
    return one
