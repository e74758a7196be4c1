"""Logging in with a directory of users, against a real slapd."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tertulia.kernel.auth import Caller
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.errors import Refusal
from tertulia.kernel.settings import Settings, SettingsError
from tertulia.organization.realms.settings import decode_realm
from tertulia.people.logins.directory import LdapDirectory
from tertulia.people.logins.login import PasswordLogin
from tertulia.people.users.actions import create_user
from tests.harness.authenticator import give_factor
from tests.harness.passwords import hashed
from tests.harness.server import OWNER, Server
from tests.harness.silence import silent_service
from tests.harness.slapd import BASE, PASSWORD, Slapd, directory
from tests.harness.stage import Backstage, Stage, Web, at_once, later
from tests.harness.talk import Speaker, check_error, check_success, eventually

pytestmark = pytest.mark.system
LOCAL = "violet anchors drift slowly"


class Site(NamedTuple):
    """An organization whose people are in a directory, and two processes that find them there in two ways."""

    realm_id: int
    host: str
    slapd: Slapd
    searching: Web
    templated: Web


@pytest.fixture(scope="module")
def site(server: Server, backstage: Backstage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("ldap")
    realm_id, subdomain = Stage(server, backstage).realm()
    with directory(folder) as slapd:
        slapd.add_person("kofi", name="Kofi Mensah", mail="kofi@example.org")
        slapd.add_person("inés", name="Inés *the* Boss", mail="ines@example.org")
        slapd.add_person("nomail", name="No Mail")
        slapd.add_person("local", name="Has Both", mail="local@example.org")
        slapd.add_person("moves", name="Moves House", mail="moves@example.org")
        slapd.add_person("leaves", name="Leaves Soon", mail="leaves@example.org")
        slapd.add_person("many", name="Many Devices", mail="many@example.org")
        slapd.add_person("claimed", name="Known Elsewhere", mail="claimed@example.org")
        slapd.add_person("only", name="Only There", mail="only@example.org")
        slapd.add_person("o'neil, (jr) *", name="Patrick O'Neil", mail="patrick@example.org")
        for i in range(4):
            slapd.add_person(f"victim{i}", mail=f"victim{i}@example.org")
        slapd.start()
        webs = [
            Web(server, folder, **slapd.settings(subdomain, by_search=by), rate_limits="false") for by in (True, False)
        ]
        try:
            yield Site(realm_id, f"{subdomain}.localhost", slapd, webs[0].wait(), webs[1].wait())
        finally:
            for web in webs:
                web.stop()


@pytest.fixture(params=["by search", "by name"])
def nobody(stage: Stage, site: Site, request: pytest.FixtureRequest) -> Speaker:
    web = site.searching if request.param == "by search" else site.templated
    return stage.nobody(url=web.url, host=site.host)


def log_in(nobody: Speaker, username: str, password: str = PASSWORD) -> httpx.Response:
    return nobody.request("POST", "fetch_api_key", username=username, password=password)


def make_local(stage: Stage, site: Site, email: str) -> int:
    async def make(tx: Transaction) -> int:
        return await create_user(tx, site.realm_id, email, "Local", password_hash=hashed(LOCAL))

    return stage.write(make)


@pytest.mark.holds("server-settings.email-format", "server-settings.authentication-methods")
def test_server_settings_say_that_user_names_are_no_addresses_there(nobody: Speaker, second: Web, stage: Stage) -> None:
    there, elsewhere = nobody.get("server_settings"), stage.nobody(url=second.url).get("server_settings")
    assert (there["require_email_format_usernames"], elsewhere["require_email_format_usernames"]) == (False, True)
    methods = there["authentication_methods"]
    assert (methods["ldap"], methods["password"], methods["email"]) == (True, True, True)
    assert elsewhere["authentication_methods"]["ldap"] is False


@pytest.mark.holds("fetch-api-key.username", "fetch-api-key.when")
def test_the_first_login_makes_an_account_and_later_ones_find_it(nobody: Speaker) -> None:
    reply = check_success(log_in(nobody, "kofi"))
    assert set(reply) == {"result", "msg", "api_key", "email", "user_id"}
    assert reply["email"] == "kofi@example.org"
    own = check_success(nobody.http.get("users/me", auth=(reply["email"], reply["api_key"])))
    assert (own["full_name"], own["role"], own["user_id"]) == ("Kofi Mensah", 400, reply["user_id"])
    for spelling in ("KOFI", " kofi ", "ｋｏｆｉ"):
        assert check_success(log_in(nobody, spelling))["user_id"] == reply["user_id"]


def test_who_is_in_the_directory_proves_anew_who_they_are_with_the_password_there(nobody: Speaker) -> None:
    reply = check_success(log_in(nobody, "kofi"))
    own = (reply["email"], reply["api_key"])
    asked = nobody.http.delete("sessions", auth=own)
    check_error(asked, "REAUTHENTICATION_REQUIRED", 403, methods=["password"])
    for password, status in (("", 400), ("wrong", 400), (PASSWORD, 200)):
        done = nobody.http.request("DELETE", "sessions", auth=own, data={"password": password})
        assert done.status_code == status, done.text


def test_the_password_of_the_directory_is_not_enough_for_who_has_a_second_factor(stage: Stage, nobody: Speaker) -> None:
    user_id = check_success(log_in(nobody, "kofi"))["user_id"]
    give_factor(stage, user_id)
    try:
        refused = log_in(nobody, "kofi")
        check_error(refused, "SECOND_FACTOR_REQUIRED", 401, key_page=refused.json()["key_page"])
        browser = nobody.request("POST", "sessions", username="kofi", password=PASSWORD)
        check_error(browser, "SECOND_FACTOR_REQUIRED", 401, methods=["code"])
    finally:
        stage.sql("delete from second_factor where user_id = %s", user_id)


def test_names_beyond_ascii_and_what_names_here_do_not_have_are_no_obstacle(nobody: Speaker) -> None:
    reply = check_success(log_in(nobody, "inés"))
    own = check_success(nobody.http.get("users/me", auth=(reply["email"], reply["api_key"])))
    assert own["full_name"] == "Inés the Boss"
    assert check_success(log_in(nobody, "o'neil, (jr) *"))["email"] == "patrick@example.org"


@pytest.mark.parametrize("password", ["", "wrong", PASSWORD.upper(), f" {PASSWORD}", "\u00ad", "bell\ue000", "a\u05d0"])
def test_a_wrong_or_empty_password_is_refused_like_an_unknown_name(nobody: Speaker, password: str) -> None:
    known = log_in(nobody, "kofi", password)
    check_error(known, "AUTHENTICATION_FAILED", 401)
    assert known.text == log_in(nobody, f"nobody{len(password)}", password).text
    check_success(log_in(nobody, "kofi"))


@pytest.mark.parametrize(
    "username",
    [
        "*",
        "kof*",
        "kofi)(uid=*",
        "*)(objectClass=*",
        "kofi\\2a",
        f"kofi,ou=people,{BASE}",
        "kofi+cn=Kofi Mensah",
        "\\6bofi",
        "#6b6f6669",
        "kofi\\",
        '"kofi"',
    ],
)
def test_what_was_typed_is_a_name_and_nothing_else(nobody: Speaker, username: str) -> None:
    check_error(log_in(nobody, username), "AUTHENTICATION_FAILED", 401)


@pytest.mark.parametrize("username", ["", " ", "\u00ad", "ko\u00adfi", "ko\u200bfi", "kofi\ufffc", "k\x01", "x" * 255])
def test_what_cannot_be_a_name_is_a_bad_request(nobody: Speaker, username: str) -> None:
    check_error(log_in(nobody, username))


def test_spellings_of_a_name_share_their_attempts(stage: Stage, site: Site) -> None:
    nobody = stage.nobody(url=site.searching.url, host=site.host)
    spellings = ["victim0", "VICTIM0", "ｖictim0", "victim０", " victim0"]
    assert [log_in(nobody, name, "wrong").status_code for name in spellings] == [401] * 5
    assert log_in(stage.nobody(url=site.templated.url, host=site.host), "victim0").status_code == 429


def test_an_account_with_a_password_of_its_own_has_two(stage: Stage, site: Site, nobody: Speaker) -> None:
    known = stage.sql("select id from account where realm_id = %s and email = 'local@example.org'", site.realm_id)
    user_id = known[0][0] if known else make_local(stage, site, "local@example.org")
    assert check_success(log_in(nobody, "local@example.org", LOCAL))["user_id"] == user_id
    assert check_success(log_in(nobody, "local"))["user_id"] == user_id
    check_error(log_in(nobody, "local", LOCAL), "AUTHENTICATION_FAILED", 401)


def test_an_account_of_this_server_alone_still_logs_in(stage: Stage, site: Site) -> None:
    user_id = make_local(stage, site, "operator@example.org")
    nobody = stage.nobody(url=site.searching.url, host=site.host)
    assert check_success(log_in(nobody, "operator@example.org", LOCAL))["user_id"] == user_id
    stage.sql("update account set is_active = false where id = %s", user_id)
    check_error(log_in(nobody, "operator@example.org", "wrong"), "USER_DEACTIVATED", 401)


@pytest.mark.holds("fetch-api-key.when")
def test_where_own_passwords_are_off_the_directory_s_are_not(stage: Stage, site: Site) -> None:
    make_local(stage, site, "off@example.org")
    nobody = stage.nobody(url=site.searching.url, host=site.host)
    stage.sql("""update realm set settings = '{"password_auth_enabled": false}' where id = %s""", site.realm_id)
    try:
        check_error(log_in(nobody, "off@example.org", LOCAL), "AUTHENTICATION_FAILED", 401)
        check_success(log_in(nobody, "kofi"))
        told = nobody.get("server_settings")
        assert (told["email_auth_enabled"], told["authentication_methods"]["password"]) == (False, True)
    finally:
        stage.sql("update realm set settings = '{}' where id = %s", site.realm_id)


def test_where_names_are_unique_nobody_comes_with_the_name_of_another(stage: Stage, site: Site) -> None:
    nobody = stage.nobody(url=site.searching.url, host=site.host)
    check_success(log_in(nobody, "kofi"))
    site.slapd.put_person("twin", cn="Kofi Mensah")
    stage.sql("""update realm set settings = '{"require_unique_names": true}' where id = %s""", site.realm_id)
    try:
        check_error(log_in(nobody, "twin"), status=403)
        check_success(log_in(nobody, "kofi"))
    finally:
        stage.sql("update realm set settings = '{}' where id = %s", site.realm_id)
    check_success(log_in(nobody, "twin"))


def test_a_person_keeps_the_account_when_its_address_changes_here(stage: Stage, site: Site) -> None:
    nobody = stage.nobody(url=site.templated.url, host=site.host)
    user_id = check_success(log_in(nobody, "moves"))["user_id"]
    stage.sql("update account set email = 'm@new.org', email_key = 'm@new.org' where id = %s", user_id)
    again = check_success(log_in(nobody, "moves"))
    assert (again["user_id"], again["email"]) == (user_id, "m@new.org")


def test_a_deactivated_account_stays_so(stage: Stage, site: Site) -> None:
    nobody = stage.nobody(url=site.searching.url, host=site.host)
    user_id = check_success(log_in(nobody, "leaves"))["user_id"]
    stage.sql("update account set is_active = false where id = %s", user_id)
    check_error(log_in(nobody, "leaves", "wrong"), "AUTHENTICATION_FAILED", 401)
    check_error(log_in(nobody, "leaves"), "USER_DEACTIVATED", 401)


def test_an_account_that_a_provider_vouches_for_is_not_opened_by_the_address_in_the_directory(
    stage: Stage, site: Site, nobody: Speaker
) -> None:
    user_id = _of_provider(stage, site)
    check_error(log_in(nobody, "claimed"), status=403)
    assert stage.sql("select provider from external_identity where user_id = %s", user_id) == [("https://elsewhere",)]
    stage.sql("delete from login_failure where username_key = 'claimed'")


def _of_provider(stage: Stage, site: Site) -> int:
    known = stage.sql("select id from account where realm_id = %s and email = 'claimed@example.org'", site.realm_id)
    if known:
        return int(known[0][0])
    user_id = make_local(stage, site, "claimed@example.org")
    sql = (
        "insert into external_identity (realm_id, provider, subject, user_id) values (%s, 'https://elsewhere', 'x', %s)"
    )
    stage.sql(sql, site.realm_id, user_id)
    return user_id


def test_first_logins_at_the_same_time_make_one_account(stage: Stage, site: Site) -> None:
    nodes = [stage.nobody(url=web.url, host=site.host) for web in (site.searching, site.templated)]
    replies = at_once([lambda node=nodes[i % 2]: log_in(node, "many") for i in range(4)])  # type: ignore[misc]
    assert len({check_success(reply)["user_id"] for reply in replies}) == 1


def test_an_entry_without_an_address_has_no_account(nobody: Speaker, stage: Stage, site: Site) -> None:
    check_error(log_in(nobody, "nomail"))
    stage.sql("delete from login_failure where username_key = 'nomail'")


async def test_a_person_of_the_directory_changes_the_password_there(server: Server, site: Site, stage: Stage) -> None:
    nobody = stage.nobody(url=site.searching.url, host=site.host)
    reply = check_success(log_in(nobody, "only"))
    caller = Caller(
        reply["user_id"], site.realm_id, 0, reply["email"], "Only There", OWNER, None, "", "", decode_realm("{}")
    )
    async with await Database.connect(server.postgres_url, shards=4, size=2) as database:
        with pytest.raises(Refusal, match="directory"):
            await PasswordLogin(database, Settings()).change_password(caller, PASSWORD, "seven copper kettles", "keys")


async def test_a_connection_by_tls_checks_the_certificate(site: Site) -> None:
    settings = {**site.slapd.settings("any"), "ldap_ca_file": str(site.slapd.certificate)}
    ways: list[dict[str, object]] = [{"ldap_url": site.slapd.tls_url}, {"ldap_start_tls": True}]
    for way in ways:
        person = await LdapDirectory(Settings(**(settings | way))).find("kofi", PASSWORD)  # type: ignore[arg-type]
        assert person is not None
        assert (person.email, person.full_name) == ("kofi@example.org", "Kofi Mensah")
        elsewhere = {"ldap_url": str((settings | way)["ldap_url"]).replace("localhost", "127.0.0.2")}
        for wrong in ({"ldap_ca_file": ""}, elsewhere):
            with pytest.raises(Refusal) as refused:
                await LdapDirectory(Settings(**(settings | way | wrong))).find("kofi", PASSWORD)  # type: ignore[arg-type]
            assert refused.value.status == 503


async def test_a_name_that_is_not_unique_is_nobody_s(site: Site) -> None:
    settings = site.slapd.settings("any") | {"ldap_search_filter": "(|(uid={username})(objectClass=inetOrgPerson))"}
    assert await LdapDirectory(Settings(**settings)).find("kofi", PASSWORD) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("by_search", [True, False])
async def test_who_is_disabled_there_is_nobody_however_they_are_found(site: Site, by_search: bool) -> None:
    for disabled, is_found in (("(uid=kofi)", False), ("(uid=somebody)", True)):
        settings = site.slapd.settings("any", by_search=by_search) | {"ldap_disabled_filter": disabled}
        found = await LdapDirectory(Settings(**settings)).find("kofi", PASSWORD)  # type: ignore[arg-type]
        assert (found is not None) == is_found


def test_a_directory_that_is_away_is_no_failed_attempt(stage: Stage, server: Server, folder: Path) -> None:
    _, subdomain = stage.realm()
    nowhere = {"ldap_url": "ldap://127.0.0.1:9", "ldap_user_dn_template": "uid={username}", "ldap_realm": subdomain}
    web = Web(server, folder, **nowhere)
    try:
        nobody = stage.nobody(url=web.wait().url, host=f"{subdomain}.localhost")
        for _ in range(6):
            reply = log_in(nobody, "kofi")
            check_error(reply, "SERVER_NOT_READY", 503)
            assert "retry-after" in reply.headers
    finally:
        web.stop()


def test_whoever_waits_for_a_directory_that_is_silent_shuts_the_door_for_nobody(
    stage: Stage, server: Server, folder: Path
) -> None:
    realm_id, subdomain = stage.realm()
    pending = "select count(*) from login_failure where realm_id = %s and is_pending"
    with silent_service() as place:
        silent = {"ldap_url": f"ldap://{place}", "ldap_user_dn_template": "uid={username}", "ldap_realm": subdomain}
        web = Web(server, folder, **silent)
        try:
            nobody = stage.nobody(url=web.wait().url, host=f"{subdomain}.localhost")
            waiting = [later(log_in, nobody, f"person{number}") for number in range(5)]
            # Their passwords are looked at here first.
            eventually(lambda: stage.sql(pending, realm_id) == [(5,)])
            eventually(lambda: b" 0.0" in _under_way(web))
            assert stage.sql(pending, realm_id) == [(5,)]
            assert len([one for one in waiting if check_error(one.result(60), "SERVER_NOT_READY", 503)]) == 5
            assert b" 0.0" in _under_way(web)
        finally:
            web.stop()


def _under_way(web: Web) -> bytes:
    """What the door counts."""
    lines = httpx.get(f"{web.metrics}/metrics", trust_env=False).content.splitlines()
    return next(line for line in lines if line.startswith(b"tertulia_door_under_way "))


@pytest.mark.parametrize(
    "settings",
    [
        {"ldap_url": "directory.example.org"},
        {"ldap_url": "ldap://directory"},
        {"ldap_url": "ldaps://directory", "ldap_user_dn_template": "uid={username}", "ldap_start_tls": True},
        {"ldap_url": "ldap://directory", "ldap_user_dn_template": "uid=kofi"},
        {"ldap_url": "ldap://directory", "ldap_search_base": BASE, "ldap_search_filter": "(uid=*)"},
    ],
)
def test_settings_that_would_not_work_or_work_for_everybody_are_refused_at_the_start(settings: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        LdapDirectory(Settings(**settings))
