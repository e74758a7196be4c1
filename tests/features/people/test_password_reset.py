"""A forgotten password: by a mail, and by the command line."""

import os
import re
import subprocess
from email.message import EmailMessage
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest

from tertulia.kernel.db import Transaction
from tertulia.people.users.actions import create_api_key, create_user
from tests.harness.command import tertulia
from tests.harness.mails import mails_to
from tests.harness.passwords import hashed
from tests.harness.server import MEMBER, Server, User
from tests.harness.stage import Stage, Web
from tests.harness.talk import Speaker, check_error, check_success, unique

OLD = "violet anchors drift slowly"
NEW = "seven copper kettles sing"


@pytest.fixture
def user(stage: Stage) -> User:
    return person(stage, stage.realm_id)


@pytest.fixture
def nobody(stage: Stage) -> Speaker:
    return stage.nobody()


def person(stage: Stage, realm_id: int) -> User:
    address = unique("person").replace(" ", ".") + "@example.com"

    async def make(tx: Transaction) -> tuple[int, str]:
        user_id = await create_user(tx, realm_id, address, "A Person", password_hash=hashed(OLD))
        return user_id, await create_api_key(tx, user_id)

    user_id, key = stage.write(make)
    return User(user_id, address, OLD, key, MEMBER)


def log_in(nobody: Speaker, user: User, password: str) -> httpx.Response:
    return nobody.request("POST", "fetch_api_key", username=user.email, password=password)


def confirm(nobody: Speaker, token: str, password: str = NEW) -> httpx.Response:
    return nobody.request("POST", "accounts/password/reset/confirm", token=token, new_password=password)


def token_in(message: EmailMessage) -> str:
    found = re.search(r"http://\S+/accounts/password/reset/(\S+)", message.get_content())
    assert found is not None
    return found[1]


@pytest.mark.holds("authentication.key-lifetime")
def test_a_mail_brings_a_token_that_sets_a_new_password_and_ends_all_that_the_old_one_opened(
    stage: Stage, nobody: Speaker, user: User, folder_of_mails: Path
) -> None:
    speaker = stage.speaker(user)
    speaker.get("users/me")
    session = "insert into browser_session (digest, user_id, csrf_token, expires) values (%s, %s, '', now() + '1 day')"
    stage.sql(session, os.urandom(32), user.user_id)
    for _ in range(2):
        nobody.post("accounts/password/reset", email=user.email.upper())
    first, second = (token_in(mail) for mail in mails_to(folder_of_mails, user.email, 2))
    assert min(len(first), len(second)) >= 32
    assert nobody.http.get("users/me", auth=(user.email, user.api_key)).status_code == 200
    check_success(confirm(nobody, second))
    check_error(log_in(nobody, user, OLD), "AUTHENTICATION_FAILED", 401)
    check_success(log_in(nobody, user, NEW))
    check_error(speaker.request("GET", "users/me"), "UNAUTHORIZED", 401)
    assert stage.sql("select count(*) from browser_session where user_id = %s", user.user_id) == [(0,)]
    for token in (first, second):
        check_error(confirm(nobody, token, "yet another password"))


def test_the_mail_says_where_and_for_how_long(nobody: Speaker, user: User, folder_of_mails: Path) -> None:
    nobody.post("accounts/password/reset", email=user.email)
    [mail] = mails_to(folder_of_mails, user.email)
    text = mail.get_content()
    assert mail["To"] == user.email
    assert "Café Tertulia" in mail["Subject"]
    assert "A Person" in text
    assert "within the next 24 hours" in text


def test_the_answer_is_the_same_whether_there_is_such_an_account_or_not(
    stage: Stage, nobody: Speaker, user: User, server: Server
) -> None:
    gone = person(stage, stage.realm_id)
    stage.sql("update account set is_active = false where id = %s", gone.user_id)
    addresses = [user.email, gone.email, server.bot.email, "nobody.at.all@example.com"]
    replies = [nobody.request("POST", "accounts/password/reset", email=address) for address in addresses]
    assert {(reply.status_code, reply.text) for reply in replies} == {(200, '{"result":"success","msg":""}\n')}
    sql = "select user_id from password_reset where user_id = any(%s)"
    assert stage.sql(sql, [user.user_id, gone.user_id, server.bot.user_id]) == [(user.user_id,)]


@pytest.mark.parametrize("address", ["", "kofi", "a b@example.com", "a@b\r\nBcc: c@d"])
def test_what_is_no_address_is_refused(nobody: Speaker, address: str) -> None:
    check_error(nobody.request("POST", "accounts/password/reset", email=address))


@pytest.mark.slow
def test_a_token_is_stored_as_a_digest_and_not_good_after_a_day_nor_for_another_address_or_organization(
    stage: Stage, nobody: Speaker, folder_of_mails: Path
) -> None:
    late, moved, off = (person(stage, stage.realm_id) for _ in range(3))
    tokens = []
    for user in (late, moved, off):
        nobody.post("accounts/password/reset", email=user.email)
        [mail] = mails_to(folder_of_mails, user.email)
        tokens.append(token_in(mail))
    assert stage.sql("select count(*) from password_reset where digest = %s", tokens[0].encode()[:32]) == [(0,)]
    _, subdomain = stage.realm()
    check_error(confirm(stage.nobody(host=f"{subdomain}.localhost"), tokens[0]))
    stage.sql("update password_reset set expires = now() where user_id = %s", late.user_id)
    stage.sql("update account set email = 'x' || email, email_key = 'x' || email_key where id = %s", moved.user_id)
    stage.sql("update account set is_active = false where id = %s", off.user_id)
    assert len({check_error(confirm(nobody, token)) for token in [*tokens, "", "made-up"]}) == 1


def test_a_weak_password_is_refused_and_the_token_stays_good(
    nobody: Speaker, user: User, folder_of_mails: Path
) -> None:
    nobody.post("accounts/password/reset", email=user.email)
    [mail] = mails_to(folder_of_mails, user.email)
    token = token_in(mail)
    for weak in ("", "short", "password1", "12345678", "aaaaaaaaaa", "x" * 101, "A Person", user.email):
        check_error(confirm(nobody, token, weak))
    check_success(confirm(nobody, token))


def test_a_token_is_used_once_however_many_try_at_once(nobody: Speaker, user: User, folder_of_mails: Path) -> None:
    nobody.post("accounts/password/reset", email=user.email)
    [mail] = mails_to(folder_of_mails, user.email)
    fields = {"token": token_in(mail), "new_password": NEW}
    tries = [nobody.later("POST", "accounts/password/reset/confirm", **fields) for _ in range(5)]
    assert sorted(reply.result(60).status_code for reply in tries) == [200, 400, 400, 400, 400]


def test_the_link_leads_to_a_form_that_needs_no_script(nobody: Speaker, user: User, folder_of_mails: Path) -> None:
    nobody.post("accounts/password/reset", email=user.email)
    [mail] = mails_to(folder_of_mails, user.email)
    url = re.search(r"http://\S+", mail.get_content())
    assert url is not None
    page = nobody.http.get(url[0])
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert (page.headers["referrer-policy"], page.headers["cache-control"]) == ("no-referrer", "no-store")
    [action] = re.findall(r'action="([^"]+)"', page.text)
    [token] = re.findall(r'name="token" value="([^"]+)"', page.text)
    assert f'value="{user.email}" readonly' in page.text
    answer = nobody.http.post(urljoin(url[0], action), data={"token": token, "new_password": "weak"})
    assert (answer.status_code, "text/html" in answer.headers["content-type"]) == (400, True)
    assert 'role="alert"' in answer.text
    assert re.findall(r'name="token" value="([^"]+)"', answer.text) == [token]  # and the form again
    answer = nobody.http.post(urljoin(url[0], action), data={"token": token, "new_password": NEW})
    assert (answer.status_code, "is set" in answer.text) == (200, True)
    check_success(log_in(nobody, user, NEW))
    for used in (
        nobody.http.get(url[0]),
        nobody.http.post(urljoin(url[0], action), data={"token": token, "new_password": NEW}),
    ):
        assert (used.status_code, "no longer works" in used.text, "email it to you" in used.text) == (
            400,
            True,
            True,
        )
        assert "new_password" not in used.text
        assert user.email not in used.text
    hostile = nobody.http.get("/accounts/password/reset/%22%3E%3Cscript%3E")
    assert "<script" not in hostile.text


def test_a_person_of_the_directory_gets_no_token_and_where_passwords_are_off_nobody_does(
    stage: Stage, nobody: Speaker, user: User
) -> None:
    identity = "insert into external_identity (realm_id, provider, subject, user_id) values (%s, 'ldap', %s, %s)"
    stage.sql(identity, stage.realm_id, user.email, user.user_id)
    nobody.post("accounts/password/reset", email=user.email)
    assert stage.sql("select count(*) from password_reset where user_id = %s", user.user_id) == [(0,)]
    realm_id, subdomain = stage.realm()
    stage.sql("""update realm set settings = '{"password_auth_enabled": false}' where id = %s""", realm_id)
    there = stage.nobody(host=f"{subdomain}.localhost")
    for path in ("accounts/password/reset", "accounts/password/reset/confirm"):
        fields = {"email": "a@example.com", "token": "x", "new_password": NEW}
        check_error(there.request("POST", path, **fields), "PASSWORD_AUTH_DISABLED", 401)


@pytest.mark.system
def test_an_address_gets_two_mails_an_hour_whoever_asks_and_others_get_theirs(
    stage: Stage, server: Server, folder: Path
) -> None:
    web = Web(server, folder, rate_limits="true")
    try:
        nobody = stage.nobody(url=web.wait().url)
        first, second = person(stage, stage.realm_id), "nobody.at.all@example.com"
        replies = [
            nobody.request("POST", "accounts/password/reset", email=address)
            for address in (first.email, second, first.email, first.email.upper(), second, "third@example.com")
        ]
        assert [reply.status_code for reply in replies] == [200, 200, 200, 429, 200, 200]
        assert replies[3].json()["code"] == "RATE_LIMIT_HIT"
    finally:
        web.stop()


def run_cli(
    server: Server, *arguments: str, password: str | None = None, command: str = "reset-password"
) -> subprocess.CompletedProcess[str]:
    environment = {"TERTULIA_POSTGRES_URL": server.postgres_url}
    if password is not None:
        environment["TERTULIA_USER_PASSWORD"] = password
    return tertulia("user", command, *arguments, env=environment)


@pytest.mark.system
def test_the_command_line_sets_a_password_or_prints_a_link_that_does_once(
    stage: Stage, server: Server, nobody: Speaker, user: User
) -> None:
    done = run_cli(server, user.email, password=NEW)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    check_success(log_in(nobody, user, NEW))
    assert nobody.http.get("users/me", auth=(user.email, user.api_key)).status_code == 401
    kept = check_success(log_in(nobody, user, NEW))["api_key"]
    link = run_cli(server, user.email, "--keep-keys").stdout.strip()
    address, _, token = link.rpartition("/")
    assert address == "http://localhost/accounts/password/reset"
    assert nobody.http.get("users/me", auth=(user.email, kept)).status_code == 200
    check_error(log_in(nobody, user, NEW), "PASSWORD_RESET_REQUIRED", 401)
    [(seconds,)] = stage.sql(
        "select extract(epoch from expires - now())::int from password_reset where user_id = %s", user.user_id
    )
    assert 86000 < seconds <= 86400
    last = f"{NEW} indeed"
    check_success(nobody.request("POST", "accounts/password/reset/confirm", token=token, new_password=last))
    check_success(log_in(nobody, user, last))
    check_error(nobody.request("POST", "accounts/password/reset/confirm", token=token, new_password=NEW))


@pytest.mark.system
def test_the_command_line_makes_an_account_whose_owner_chooses_the_password_by_a_link(
    server: Server, nobody: Speaker
) -> None:
    email = "newcomer-by-link@example.com"
    made = run_cli(server, email, "--name", "A Newcomer", "--link", command="create")
    token = made.stdout.strip().rpartition("/")[2]
    check_success(nobody.request("POST", "accounts/password/reset/confirm", token=token, new_password=NEW))
    assert check_success(nobody.request("POST", "fetch_api_key", username=email, password=NEW))["email"] == email


@pytest.mark.system
def test_the_command_line_ends_a_password_without_setting_another(server: Server, nobody: Speaker, user: User) -> None:
    assert run_cli(server, "--must-reset", user.email).returncode == 0
    check_error(log_in(nobody, user, OLD), "PASSWORD_RESET_REQUIRED", 401)


@pytest.mark.system
def test_the_command_line_refuses_weak_passwords_and_unknown_people(server: Server, user: User) -> None:
    weak, unknown = run_cli(server, user.email, password="12345678"), run_cli(server, "no@example.com")
    elsewhere = run_cli(server, "--realm", "nowhere", user.email)
    for done in (weak, unknown, elsewhere):
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("tertulia: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.system
@pytest.mark.parametrize("password", ["x", "12345678", "Summer2024!", "Ada Lovelace"])
def test_the_command_line_makes_no_account_with_a_weak_password(server: Server, password: str) -> None:
    address = unique("new").replace(" ", ".") + "@example.com"
    done = run_cli(server, address, "--name", "Ada Lovelace", "--role", "owner", password=password, command="create")
    assert (done.returncode, done.stdout) == (1, "")
    assert "password" in done.stderr.lower()
