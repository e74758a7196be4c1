"""Logging in with a directory that answers what no directory should, and comparing accounts with one."""

import secrets
import time
from collections.abc import Iterator
from typing import NamedTuple

import httpx
import pytest

from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings
from tertulia.people.directories import listing
from tertulia.people.directories.listing import DirectoryListing, ListingFailure
from tertulia.people.logins.directory import LdapDirectory, Measure
from tests.harness.command import tertulia
from tests.harness.crooked_directory import (
    BOUND,
    DONE,
    ENTRY,
    Answer,
    CrookedDirectory,
    crooked_directory,
    elsewhere,
    message,
    person,
    piece,
    result,
)
from tests.harness.server import Server
from tests.harness.stage import Backstage, Stage, Web
from tests.harness.talk import check_error, check_success

pytestmark = pytest.mark.system


class Site(NamedTuple):
    """An organization whose people are in the directory, and a process that asks it."""

    stage: Stage
    web: Web
    subdomain: str
    directory: CrookedDirectory

    def log_in(self) -> httpx.Response:
        nobody = self.stage.nobody(url=self.web.url, host=f"{self.subdomain}.localhost")
        return nobody.request("POST", "fetch_api_key", username="kofi", password="whatever it is")

    @property
    def settings(self) -> dict[str, str]:
        return {"ldap_url": self.directory.url, "ldap_realm": self.subdomain, "ldap_search_base": "ou=people"}


@pytest.fixture
def directory() -> Iterator[CrookedDirectory]:
    with crooked_directory() as directory:
        yield directory


@pytest.fixture(scope="module")
def crooked(
    server: Server, backstage: Backstage, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[CrookedDirectory, Web, str]]:
    _, subdomain = Stage(server, backstage).realm()
    with crooked_directory() as directory:
        settings = {"ldap_url": directory.url, "ldap_realm": subdomain, "ldap_search_base": "ou=people"}
        web = Web(server, tmp_path_factory.mktemp("crooked"), **settings, rate_limits="false", login_failures="99/60")
        try:
            yield directory, web.wait(), subdomain
        finally:
            web.stop()


@pytest.fixture
def site(stage: Stage, crooked: tuple[CrookedDirectory, Web, str]) -> Site:
    directory, web, subdomain = crooked
    directory.reset()
    return Site(stage, web, subdomain, directory)


BINDS: dict[str, Answer] = {
    "another directory is to be asked": lambda number: elsewhere(number, BOUND),
    "an outcome that there is not": lambda number: result(number, BOUND, 999),
}
SEARCHES: dict[str, Answer] = {
    "nothing of LDAP": lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n",
    "an entry that is none": lambda number: message(number, piece(ENTRY, b"\x04\x05ab")),
    "a result that is none": lambda number: message(number, piece(DONE)),
    "an attribute without values": lambda number: message(
        number, piece(ENTRY, piece(4, b"uid=kofi"), piece(0x30, piece(0x30, piece(4, b"mail"))))
    ),
}
LONG: dict[str, Answer] = {
    "more than was asked for": lambda number: person(number, "kofi") * 20_000 + result(number, DONE),
    "an entry without end": lambda number: person(number, "kofi", cn=b"x" * 4_000_000) + result(number, DONE),
}


@pytest.mark.parametrize("said", BINDS)
def test_who_logs_in_where_the_directory_takes_nobody_s_word_hears_that_it_is_away(site: Site, said: str) -> None:
    site.directory.binding = BINDS[said]
    check_error(site.log_in(), "SERVER_NOT_READY", 503)


@pytest.mark.parametrize("said", SEARCHES | LONG)
def test_who_logs_in_where_the_directory_says_what_nobody_can_read_hears_that_it_is_away(site: Site, said: str) -> None:
    site.directory.searching = (SEARCHES | LONG)[said]
    check_error(site.log_in(), "SERVER_NOT_READY", 503)


def test_who_is_known_by_bytes_is_so_also_where_one_of_them_is_zero(site: Site) -> None:
    site.directory.searching = lambda number: person(number, "kofi", entryUUID=b"a\0b") + result(number, DONE)
    known = check_success(site.log_in())["user_id"]
    assert check_success(site.log_in())["user_id"] == known


def test_who_is_known_by_more_than_can_be_kept_is_told_so(site: Site) -> None:
    long = secrets.token_hex(2000).encode()
    site.directory.searching = lambda number: person(number, "kofi", entryUUID=long) + result(number, DONE)
    check_error(site.log_in(), "BAD_REQUEST", 400)


@pytest.mark.parametrize("said", SEARCHES)
def test_the_command_that_compares_says_in_a_line_that_the_directory_cannot_be_read(
    server: Server, site: Site, said: str
) -> None:
    site.directory.searching = SEARCHES[said]
    settings = {f"TERTULIA_{name.upper()}": value for name, value in site.settings.items()}
    done = tertulia("directory", "sync", env=settings | {"TERTULIA_POSTGRES_URL": server.postgres_url})
    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (1, "", False), done
    assert "cannot be asked" in done.stderr


async def test_an_answer_that_drips_comes_to_an_end(
    directory: CrookedDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LdapDirectory, "measure", Measure(1.0, 1024))
    directory.pause = 0.1
    settings = Settings(ldap_url=directory.url, ldap_realm="", ldap_search_base="ou=people")
    began = time.monotonic()
    with pytest.raises(Refusal) as refused:
        await LdapDirectory(settings).find("kofi", "whatever it is")
    assert (refused.value.status, time.monotonic() - began < 8) == (503, True)


async def test_a_directory_that_begins_anew_after_its_last_page_is_not_read_for_ever(
    directory: CrookedDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing, "MAX_ENTRIES", 50)
    directory.searching = lambda number: person(number, "kofi") * 10 + result(number, DONE, cookie=b"again")
    settings = Settings(ldap_url=directory.url, ldap_realm="", ldap_search_base="ou=people")
    with pytest.raises(ListingFailure, match="goes on"):
        await DirectoryListing(settings).read()
