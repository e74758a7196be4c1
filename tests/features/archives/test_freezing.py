"""A frozen organization is read, and nobody writes to it: no request, no worker, no command."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pyrage
import pytest

from tertulia.kernel.auth import DirectoryClient, Hook
from tertulia.kernel.endpoint import Endpoint
from tertulia.kernel.ids import digest_of_key
from tertulia.messaging.erasure.actions import begin
from tertulia.messaging.erasure.model import Messages
from tertulia.people.factors.rules import clean_code
from tertulia.server.app import endpoints_of
from tertulia.server.features import FEATURES
from tests.harness.authenticator import give_factor
from tests.harness.command import said_once, tertulia
from tests.harness.passwords import PASSWORD, give_password
from tests.harness.realm import Realm
from tests.harness.scim import token_of
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Stage
from tests.harness.talk import check_success, eventually

RECIPIENT = str(pyrage.x25519.Identity.generate().to_public())
GOES_ON = {
    "DELETE /api/v1/events": "polls: a queue is nothing of the organization",
    "POST /api/v1/register": "polls",
    "POST /api/v1/fetch_api_key": "log-in to read",
    "POST /api/v1/sessions": "log-in to read",
    "POST /api/v1/sessions/factor": "log-in to read",
    "POST /api/v1/sessions/passkey/options": "log-in to read",
    "POST /api/v1/sessions/passkey": "log-in to read",
    "POST /accounts/login/oidc/{provider}/code": "log-in to read",
    "DELETE /api/v1/sessions/current": "log-out: sessions do not move, so none comes back",
    "POST /api/v1/messages/render": "reads, and stores nothing",
    "POST /scim/v2/.search": "reads: the question is in the body",
    "POST /scim/v2/Users/.search": "reads",
    "POST /scim/v2/Groups/.search": "reads",
}
"""Whatever has another method than GET and may be called while the organization is frozen, and why."""


@pytest.fixture
def run(server: Server) -> Callable[..., str]:
    if not isinstance(server, OwnServer):
        pytest.skip("needs the files of the server")

    def do(*words: str) -> str:
        done = tertulia(*words, env=server.environment())
        assert done.returncode == 0, done.stderr
        return done.stdout

    return do


@contextmanager
def frozen(realm: Realm, run: Callable[..., str]) -> Iterator[None]:
    run("move", "freeze", realm.subdomain)
    try:
        yield
    finally:
        run("move", "thaw", realm.subdomain)


def writes() -> list[Endpoint]:
    return [one for one in endpoints_of(FEATURES) if one.method != "GET"]


def is_refused(reply: httpx.Response) -> None:
    assert reply.status_code == 503, (reply.request.url, reply.text)
    assert "moved to another server" in reply.text
    assert 5 <= int(reply.headers["retry-after"]) <= 10


def test_every_write_of_the_api_is_refused_while_the_organization_is_frozen(
    realm: Realm, run: Callable[..., str]
) -> None:
    allowed = {f"{one.method} {one.path}" for one in writes() if one.while_frozen}
    assert allowed == GOES_ON.keys()
    token, nobody = token_of(realm.stage, realm.id), realm.stage.nobody(host=realm.host)
    bot, url = realm.bot(realm.owner), realm.stage.server.url
    with frozen(realm, run):
        for one in writes():
            if one.while_frozen:
                continue
            path, kind = url + re.sub(r"\{[a-z_]+\}", "1", one.path), one.caller.type if one.caller else None
            if kind is DirectoryClient:
                headers = {"authorization": f"Bearer {token}", "host": realm.host}
                reply = nobody.http.request(one.method, path, headers=headers)
            elif kind is Hook:
                reply = nobody.http.request(one.method, path, params={"api_key": bot.user.api_key})
            else:
                speaker = nobody if kind is None else realm.owner
                reply = speaker.http.request(one.method, path)
            is_refused(reply)


def test_who_reads_polls_and_logs_in_notices_nothing_of_a_freeze(realm: Realm, run: Callable[..., str]) -> None:
    channel = realm.stage.channel(realm.member, realm.owner, realm_id=realm.id)
    sent = realm.owner.send(channel.stream_id, "plans", "before")
    give_password(realm.stage, realm.member)
    with realm.member.register() as queue, frozen(realm, run):
        assert realm.member.message(sent)["content"] == "<p>before</p>"
        assert queue.poll(dont_block=True) == []
        with realm.member.register() as again:
            assert again.poll(dont_block=True) == []
        login = {"username": realm.member.email, "password": PASSWORD}
        nobody = realm.stage.nobody(host=realm.host)
        assert nobody.post("fetch_api_key", **login)["user_id"] == realm.member.id
        assert nobody.post("sessions", **login)["user_id"] == realm.member.id
        give_factor(realm.stage, realm.member.id)
        put = "insert into recovery_code (user_id, digest) values (%s, %s)"
        realm.stage.sql(put, realm.member.id, digest_of_key(clean_code("code")))
        # It would be good once more where the organization goes, so it is not used up here.
        is_refused(nobody.request("POST", "sessions", **login, code="code"))
        is_refused(realm.owner.request("POST", "messages", type="direct", to=[realm.member.id], content="x"))
    assert realm.owner.send(channel.stream_id, "plans", "after") > sent


def test_a_write_under_way_at_the_freeze_is_refused_or_waited_for(realm: Realm, run: Callable[..., str]) -> None:
    stage, env = realm.stage, realm.stage.server.environment()  # type: ignore[attr-defined]
    channel = stage.channel(realm.member, realm_id=realm.id)
    with stage.session() as execute:
        execute("select from account where id = %s for update", realm.member.id)
        execute("select from conversation where id = %s for update", channel.stream_id)
        fields = {"type": "channel", "to": channel.stream_id, "topic": "t", "content": "late"}
        waiting = [
            realm.member.later("PATCH", "settings", twenty_four_hour_time=True),
            realm.member.later("POST", "users/me/muted_users/" + str(realm.owner.id)),
            realm.member.later("POST", "messages", **fields),
        ]
        eventually(lambda: waiters(stage) >= len(waiting))
        process = later(env, "move", "freeze", realm.subdomain)
        eventually(lambda: stage.sql("select settings ? '_frozen' from realm where id = %s", realm.id) == [(True,)])
        time.sleep(0.3)
        assert process.poll() is None  # this very transaction began before
        process.kill()
        process.wait()
    for one in waiting:
        is_refused(one.result())
    run("move", "freeze", realm.subdomain)  # it was, also without the command that was killed: this one waits again
    assert stage.sql("select count(*) from message where conversation_id = %s", channel.stream_id) == [(0,)]
    assert stage.sql("select count(*) from muted_user where user_id = %s", realm.member.id) == [(0,)]
    run("move", "thaw", realm.subdomain)


def test_the_worker_waits_with_what_is_due_until_the_organization_thaws(realm: Realm, run: Callable[..., str]) -> None:
    stage, member = realm.stage, realm.member
    channel = stage.channel(member, realm_id=realm.id)
    due = int(time.time()) + 9000
    sent = member.send(channel.stream_id, "plans", "now")
    fields = {"type": "channel", "to": channel.stream_id, "topic": "plans", "content": "later"}
    member.post("scheduled_messages", **fields, scheduled_delivery_timestamp=due)
    member.post("reminders", message_id=sent, scheduled_delivery_timestamp=due, note="look")
    with frozen(realm, run):
        for table in ("scheduled_message", "reminder"):
            stage.sql(f"update {table} set due = now() where realm_id = %s", realm.id)
        stage.sql(
            "insert into notice (realm_id, body) values (%s, %s)",
            realm.id,
            json.dumps({"text": ["From the bot"], "user_id": member.id}),
        )
        time.sleep(2.5)  # each of these chores runs once a second at least
        assert len(member.window(before=10)["messages"]) == 1
    eventually(lambda: len(member.window(before=10)["messages"]) == 4)


def test_who_is_being_erased_does_not_move_half_erased(
    realm: Realm, server: Server, run: Callable[..., str], tmp_path: Path
) -> None:
    assert isinstance(server, OwnServer)
    stage, person = realm.stage, realm.speaker()
    stage.write(lambda tx: begin(tx, realm.id, person.id, Messages.KEEP))
    out = ("move", "out", realm.subdomain, str(tmp_path / "out.age"), "--to", RECIPIENT)
    with frozen(realm, run):
        stage.sql("update erasure set due = now() where user_id = %s", person.id)
        time.sleep(6)  # the chore runs every five seconds
        assert "is being erased" in said_once(tertulia(*out, env=server.environment()))
    eventually(lambda: stage.sql("select finished is not null from erasure where user_id = %s", person.id) == [(True,)])
    with frozen(realm, run):
        run(*out)


def test_commands_leave_a_frozen_organization_alone_and_say_that_it_is(
    realm: Realm, server: Server, run: Callable[..., str]
) -> None:
    assert isinstance(server, OwnServer)
    env = server.environment()
    assert json.loads(run("realm", "show", "--realm", realm.subdomain, "--json"))["frozen_since"] is None
    with frozen(realm, run):
        refused = tertulia("user", "create", "new@example.com", "--name", "New", "--realm", realm.subdomain, env=env)
        assert "moved to another server" in said_once(refused)
        erased = tertulia("user", "erase", str(realm.member.id), "--realm", realm.subdomain, "--yes", env=env)
        assert "moved to another server" in said_once(erased)
        assert json.loads(run("realm", "show", "--realm", realm.subdomain, "--json"))["frozen_since"]
        told = tertulia("doctor", env=env).stdout
        assert f"{realm.subdomain!r} is frozen since" in told
        assert json.loads(run("move", "freeze", realm.subdomain, "--json"))["is_frozen"]
    check_success(realm.owner.request("PATCH", "realm", description="again"))
    nowhere = tertulia("move", "freeze", "nowhere", env=env)
    assert "no organization" in said_once(nowhere)


def later(env: dict[str, str], *words: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([sys.executable, "-m", "tertulia", *words], env=env)


def waiters(stage: Stage) -> int:
    sql = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and application_name like 'tertulia web%%'"
    return int(stage.sql(sql)[0][0])
