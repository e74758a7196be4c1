"""The audit log: everything that is done is in it, nothing secret is, and nobody changes it."""

import csv
import io
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tertulia.kernel.db import Reader
from tertulia.organization.audit_log import Act
from tertulia.organization.audit_log.model import Search, acts_named
from tertulia.organization.audit_log.queries import search
from tests.contract.test_avatar import upload
from tests.contract.test_custom_emoji import png
from tests.harness.authenticator import Authenticator
from tests.harness.browser import Browser
from tests.harness.command import tertulia
from tests.harness.files import fetch
from tests.harness.mails import mailed
from tests.harness.passwords import PASSWORD, give_password
from tests.harness.realm import Realm
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Stage, at_once
from tests.harness.talk import Json, Speaker, check_error, check_success, eventually, unique

NEW_PASSWORD = "seven copper kettles sing"
Open = Callable[[Realm], Browser]


@pytest.fixture
def browser(server: Server) -> Iterator[Open]:
    opened: list[Browser] = []

    def open_one(realm: Realm) -> Browser:
        opened.append(Browser(server.url))
        opened[-1].http.headers["host"] = realm.host
        opened[-1].http.headers["user-agent"] = "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"
        return opened[-1]

    try:
        yield open_one
    finally:
        for one in opened:
            one.http.close()


def log_of(realm: Realm, **filters: object) -> list[Json]:
    """All of it, the newest first."""
    found: list[Json] = []
    before = None
    while True:
        page = realm.owner.get("audit_log", limit=1000, **filters, **({} if before is None else {"before": before}))
        found += page["entries"]
        before = page["next"]
        if before is None:
            return found


def last(realm: Realm, act: Act) -> Json:
    return log_of(realm, act=act.value)[0]


def token_for(folder: Path, email: str, page: str) -> str:
    """The token of the newest mail that has one for this page."""
    return mailed(folder, email, rf"http://\S+/{page}/(\S+)")[-1]


def test_everything_that_is_done_is_noted(
    realm: Realm, browser: Open, folder_of_mails: Path, server: Server, folder: Path
) -> None:
    give_password(realm.stage, *realm.all)
    change_the_organization(realm)
    change_groups_and_channels(realm)
    change_people(realm, folder_of_mails)
    change_bots(realm)
    log_in_and_out(realm, browser, folder_of_mails)
    token = realm.owner.post("scim/tokens", label="Okta", password=PASSWORD)["id"]
    realm.owner.delete(f"scim/tokens/{token}", password=PASSWORD)
    export(realm.owner)
    hold(server, realm, folder)
    erase(server, realm, realm.member.id)
    seen = {Act(entry["act"]) for entry in log_of(realm)}
    assert set(Act) - seen == set()


def export(owner: Speaker) -> None:
    asked = owner.post("export/realm", password=PASSWORD)["id"]
    eventually(lambda: not owner.get("export/realm")["exports"][0]["pending"])
    assert fetch(owner, owner.get("export/realm")["exports"][0]["export_url"]).status_code == 200
    owner.delete(f"export/realm/{asked}")


def change_the_organization(realm: Realm) -> None:
    owner = realm.owner
    check_success(owner.request("PATCH", "realm", name="Plaza", invite_required=False, waiting_period_threshold=3))
    check_success(owner.request("PATCH", "realm", can_create_groups=json.dumps({"new": system(realm, "role:owners")})))
    check_success(owner.request("PATCH", "realm/user_settings_defaults", enter_sends=True))
    owner.post("realm/domains", domain="example.org", allow_subdomains=False)
    check_success(owner.request("PATCH", "realm/domains/example.org", allow_subdomains=True))
    owner.delete("realm/domains/example.org")
    check_success(upload(owner, png(), path="realm/icon"))
    check_success(upload(owner, png(), path="realm/emoji/party"))
    owner.delete("realm/emoji/party")
    first = owner.post("realm/filters", pattern="#(?P<id>[0-9]+)", url_template="https://example.org/{id}")["id"]
    check_success(
        owner.request(
            "PATCH", f"realm/filters/{first}", pattern="#(?P<id>[0-9]{3})", url_template="https://example.org/{id}"
        )
    )
    owner.delete(f"realm/filters/{first}")
    play = {"name": "Rust", "pygments_language": "Rust", "url_template": "https://example.org/{code}"}
    owner.delete(f"realm/playgrounds/{owner.post('realm/playgrounds', **play)['id']}")
    field = owner.post("realm/profile_fields", field_type=1, name="Pet")["id"]
    check_success(owner.request("PATCH", f"realm/profile_fields/{field}", hint="Its name"))
    entry = [{"id": field, "value": "Rex"}]
    check_success(owner.request("PATCH", f"users/{realm.guest.id}", profile_data=json.dumps(entry)))
    owner.delete(f"realm/profile_fields/{field}")


def system(realm: Realm, name: str) -> int:
    groups = realm.owner.get("user_groups")["user_groups"]
    return next(int(one["id"]) for one in groups if one["name"] == name)


def change_groups_and_channels(realm: Realm) -> None:
    owner, member = realm.owner, realm.member
    group = owner.post("user_groups/create", name="Cooks", description="", members=[owner.id])["group_id"]
    check_success(owner.request("PATCH", f"user_groups/{group}", name="Bakers"))
    owner.post(f"user_groups/{group}/members", add=[member.id])
    owner.post(f"user_groups/{group}/deactivate")
    check_success(owner.request("PATCH", f"user_groups/{group}", deactivated=False))
    folder = owner.post("channel_folders/create", name="Work", description="")["channel_folder_id"]
    check_success(owner.request("PATCH", f"channel_folders/{folder}", name="Play"))
    owner.post("users/me/subscriptions", subscriptions=[{"name": "kitchen"}], principals=[owner.id, member.id])
    channel = owner.get("get_stream_id", stream="kitchen")["stream_id"]
    check_success(owner.request("PATCH", f"streams/{channel}", new_name="bakery", is_private=True))
    check_success(member.request("POST", "messages", type="channel", to=channel, topic="bread", content="burnt"))
    theirs = member.send(channel, "bread", "burnt again")
    owner.delete(f"messages/{theirs}")
    owner.post(f"streams/{channel}/delete_topic", topic_name="bread")
    owner.delete("users/me/subscriptions", subscriptions=["bakery"], principals=[member.id])
    owner.delete(f"streams/{channel}")
    check_success(owner.request("PATCH", f"streams/{channel}", is_archived=False))
    owner.post("invites", invitee_emails="somebody@example.com", stream_ids=[])
    owner.post("invites/multiuse", stream_ids=[])
    mailed, link = sorted(owner.get("invites")["invites"], key=lambda one: one["is_multiuse"])
    owner.post(f"invites/{mailed['id']}/resend")
    owner.delete(f"invites/multiuse/{link['id']}")


def change_people(realm: Realm, mails: Path) -> None:
    owner, member = realm.owner, realm.member
    made = owner.post("users", email=address(), password=NEW_PASSWORD, full_name="Ada")["user_id"]
    check_success(owner.request("PATCH", f"users/{made}", full_name="Ada B", role=300, new_email=address()))
    owner.post(f"users/{made}/status", status_text="away")
    owner.delete(f"users/{made}")
    owner.post(f"users/{made}/reactivate")
    wanted = address()
    check_success(member.request("PATCH", "settings", email=wanted, old_password=PASSWORD))
    nobody = realm.stage.nobody(host=realm.host)
    for email in (member.email, wanted):
        nobody.post("accounts/email/confirm", token=token_for(mails, email, "accounts/email/confirm"))
    nobody.post("accounts/password/reset", email=realm.guest.email)
    token = token_for(mails, realm.guest.email, "accounts/password/reset")
    nobody.post("accounts/password/reset/confirm", token=token, new_password=NEW_PASSWORD)


def change_bots(realm: Realm) -> None:
    owner = realm.owner
    bot = owner.post("bots", full_name="Robot", short_name="robot", bot_type=2)["user_id"]
    check_success(owner.request("PATCH", f"bots/{bot}", bot_owner_id=realm.administrator.id))
    owner.post(f"bots/{bot}/webhook_secret", integration="github", secret="a secret of github")


def log_in_and_out(realm: Realm, browser: Open, mails: Path) -> None:
    moderator = realm.moderator
    one = browser(realm)
    assert one.request("POST", "sessions", username=moderator.email, password="wrong").status_code == 401
    one.log_in(moderator.user)
    setup = one.post("users/me/factors/totp", password=PASSWORD)
    authenticator = Authenticator(setup["secret"])
    codes = one.post("users/me/factors/totp/confirm", code=authenticator.code())["recovery_codes"]
    check_error(one.request("DELETE", "users/me/factors/totp", code="000000"), "SECOND_FACTOR_FAILED")
    one.post("users/me/factors/recovery_codes", code=codes[0])
    check_success(one.request("DELETE", "users/me/factors/totp", code=authenticator.code()))
    check_success(one.request("PATCH", "settings", old_password=PASSWORD, new_password=NEW_PASSWORD))
    check_success(one.request("DELETE", "sessions/current"))


def hold(server: Server, realm: Realm, folder: Path) -> None:
    assert isinstance(server, OwnServer)

    def run(*words: str) -> str:
        done = tertulia("hold", *words, env=server.environment())
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    number = run("add", str(realm.member.id), "--realm", realm.subdomain)
    run("export", str(folder / "held"), "--realm", realm.subdomain)
    run("remove", number, "--realm", realm.subdomain)


def erase(server: Server, realm: Realm, user_id: int) -> None:
    assert isinstance(server, OwnServer)
    environment = {"TERTULIA_POSTGRES_URL": server.postgres_url}
    tertulia("audit", "erase", str(user_id), "--realm", realm.subdomain, env=environment).check_returncode()


def address() -> str:
    return unique("person").replace(" ", ".") + "@example.com"


# What an entry says


def test_an_entry_says_who_by_what_from_where_did_what_to_whom(realm: Realm, browser: Open) -> None:
    give_password(realm.stage, realm.owner)
    one = browser(realm)
    one.log_in(realm.owner.user)
    check_success(one.request("PATCH", f"users/{realm.member.id}", role=300, password=PASSWORD))
    entry = last(realm, Act.USER_ROLE_CHANGED)
    [session] = one.get("sessions")["sessions"]
    assert entry["actor_id"] == realm.owner.id
    assert (entry["session_id"], entry["key_id"]) == (session["id"], None)
    assert entry["address"] == "127.0.0.1"
    assert "Firefox" in entry["user_agent"]
    assert entry["target"] == {"type": "user", "id": realm.member.id, "name": "Somebody New"}
    assert entry["changes"] == {"role": [400, 300]}
    assert abs(entry["timestamp"] - time.time()) < 60
    check_success(realm.owner.request("PATCH", f"users/{realm.member.id}", role=400))
    entry = last(realm, Act.USER_ROLE_CHANGED)
    [key] = realm.owner.get("users/me/api_keys")["api_keys"]
    assert (entry["key_id"], entry["session_id"]) == (key["id"], None)


def test_what_changes_nothing_and_what_is_refused_is_not_noted(realm: Realm) -> None:
    before = len(log_of(realm))
    check_success(realm.owner.request("PATCH", f"users/{realm.member.id}", role=400))
    check_success(realm.owner.request("PATCH", "realm", invite_required=True))
    assert realm.member.request("PATCH", f"users/{realm.guest.id}", role=400).status_code == 400
    realm.member.send([realm.owner.id])
    assert len(log_of(realm)) == before


def test_a_login_that_fails_is_noted_with_whose_account_was_meant_and_not_what_was_typed(
    realm: Realm, browser: Open
) -> None:
    give_password(realm.stage, realm.member)
    one = browser(realm)
    for name in (realm.member.email, "hunter2hunter2@example.com"):
        assert one.request("POST", "sessions", username=name, password="wrong").status_code == 401
    stranger, known = log_of(realm, act="login.failed")
    assert known["target"]["id"] == realm.member.id
    assert (known["actor_id"], known["address"]) == (None, "127.0.0.1")
    assert stranger["target"] is None
    assert "hunter2" not in json.dumps(stranger)
    realm.owner.delete(f"users/{realm.member.id}")
    check_error(
        one.request("POST", "sessions", username=realm.member.email, password=PASSWORD), "USER_DEACTIVATED", 401
    )
    assert last(realm, Act.LOGIN_FAILED)["changes"] == {"reason": [None, "user_deactivated"]}


def test_no_secret_is_ever_in_the_log(realm: Realm, browser: Open) -> None:
    stage, owner = realm.stage, realm.owner
    give_password(stage, *realm.all)
    secrets = [PASSWORD, NEW_PASSWORD, owner.user.api_key]
    one = browser(realm)
    secrets.append(one.log_in(owner.user)["csrf_token"])
    secrets.append(one.token)
    setup = one.post("users/me/factors/totp", password=PASSWORD)
    authenticator = Authenticator(setup["secret"])
    code = authenticator.code()
    codes = one.post("users/me/factors/totp/confirm", code=code)["recovery_codes"]
    secrets += [setup["secret"], code, *codes, *(one.replace("-", "") for one in codes)]
    one.post("users/me/factors/recovery_codes", code=codes[0])
    secrets.append(one.post("users/me/api_key/regenerate", code=authenticator.code())["api_key"])
    hook = {"payload_url": '"https://example.org/?token=hidden-word"', "bot_type": 3}
    bot = owner.post("bots", full_name="Robot", short_name="robot", **hook)
    posting = owner.post("bots", full_name="Poster", short_name="poster", bot_type=2)
    owner.post(f"bots/{posting['user_id']}/webhook_secret", integration="github", secret="another hidden-word")
    moved = '"https://example.com/?token=hidden-word"'
    check_success(owner.request("PATCH", f"bots/{bot['user_id']}", service_payload_url=moved))
    secrets += [bot["api_key"], "hidden-word"]
    link = owner.post("invites/multiuse", stream_ids=[])["invite_link"]
    secrets.append(link.rsplit("/", 1)[1])
    owner.post("users", email=address(), password="quiet rivers bend north", full_name="Ada")
    secrets.append("quiet rivers bend north")
    made = stage.nobody(host=realm.host).post("fetch_api_key", username=realm.member.email, password=PASSWORD)
    secrets.append(made["api_key"])
    written = str(stage.sql("select * from audit_entry where realm_id = %s", realm.id)) + str(
        stage.sql("select * from audit_detail where realm_id = %s", realm.id)
    )
    assert str(bot["user_id"]) in written
    assert [secret for secret in secrets if secret in written] == []


def test_names_stand_apart_from_entries(realm: Realm) -> None:
    check_success(realm.owner.request("PATCH", f"users/{realm.member.id}", full_name="Grace Hopper"))
    realm.owner.post("users/me/subscriptions", subscriptions=[{"name": "grace-room"}])
    entries = str(realm.stage.sql("select * from audit_entry where realm_id = %s", realm.id))
    details = str(realm.stage.sql("select * from audit_detail where realm_id = %s", realm.id))
    for text in ("Grace", "grace-room", "127.0.0.1", "example.com", "Somebody"):
        assert text not in entries, text
    assert "Grace Hopper" in details


# Who reads it


def test_only_owners_read_it_and_only_that_of_their_organization(realm: Realm, stage: Stage) -> None:
    for path in ("audit_log", "audit_log/csv", "audit_log/stream", "audit_log/acts"):
        for speaker in (realm.administrator, realm.moderator, realm.member, realm.guest):
            assert speaker.request("GET", path).status_code == 400, path
        assert stage.nobody(host=realm.host).request("GET", path).status_code == 401
    elsewhere = Realm(stage)
    check_success(elsewhere.owner.request("PATCH", f"users/{elsewhere.member.id}", full_name="Far Away"))
    theirs = {entry["id"] for entry in log_of(elsewhere)}
    ours = log_of(realm)
    assert ours
    assert theirs.isdisjoint(entry["id"] for entry in ours)
    assert log_of(realm, actor_id=elsewhere.owner.id) == []
    assert log_of(realm, target_type="user", target_id=elsewhere.member.id) == []
    assert "Far Away" not in realm.owner.request("GET", "audit_log/csv").text
    lines = realm.owner.request("GET", "audit_log/stream", limit=10_000).text.splitlines()
    assert theirs.isdisjoint(json.loads(line)["id"] for line in lines)


def test_filters_find_what_they_say(realm: Realm) -> None:
    begun = time.time()
    for speaker in (realm.member, realm.guest):
        check_success(realm.owner.request("PATCH", f"users/{speaker.id}", full_name=unique("Name")))
    check_success(realm.administrator.request("PATCH", f"users/{realm.member.id}", full_name=unique("Name")))
    everything = log_of(realm)
    ids = [entry["id"] for entry in everything]
    assert ids == sorted(ids, reverse=True)
    tries: list[tuple[Json, Callable[[Json], bool]]] = [
        ({"actor_id": realm.administrator.id}, lambda one: one["actor_id"] == realm.administrator.id),
        ({"act": "user.changed"}, lambda one: one["act"] == "user.changed"),
        ({"act": "user"}, lambda one: one["act"].startswith("user.")),
        ({"target_type": "user", "target_id": realm.guest.id}, lambda one: one["target"]["id"] == realm.guest.id),
        ({"target_type": "organization", "target_id": realm.id}, lambda one: one["target"]["type"] == "organization"),
        ({"since": begun - 0.5}, lambda one: one["timestamp"] >= begun - 0.5),
        ({"until": begun - 0.5}, lambda one: one["timestamp"] < begun - 0.5),
        ({"since": begun + 3600}, lambda _: False),
        (
            {"act": "user.changed", "actor_id": realm.owner.id, "target_type": "user", "target_id": realm.member.id},
            lambda one: (
                (one["act"], one["actor_id"], one["target"]["id"]) == ("user.changed", realm.owner.id, realm.member.id)
            ),
        ),
    ]
    for filters, fits in tries:
        wanted = [entry["id"] for entry in everything if entry["target"] is not None and fits(entry)]
        assert [entry["id"] for entry in log_of(realm, **filters)] == wanted, filters
    page = realm.owner.get("audit_log", limit=2)
    assert [entry["id"] for entry in page["entries"]] == ids[:2]
    assert page["next"] == ids[1]
    assert [entry["id"] for entry in realm.owner.get("audit_log", limit=2, before=page["next"])["entries"]] == ids[2:4]
    assert "no act" in check_error(realm.owner.request("GET", "audit_log", act="user.danced"))
    check_error(realm.owner.request("GET", "audit_log", target_id=1))
    check_error(realm.owner.request("GET", "audit_log", target_type="user"))


def test_the_table_is_csv_that_no_spreadsheet_runs(realm: Realm) -> None:
    check_success(realm.owner.request("PATCH", f"users/{realm.member.id}", full_name="=cmd|calc"))
    reply = realm.owner.request("GET", "audit_log/csv", act="user.changed")
    assert reply.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in reply.headers["content-disposition"]
    head, row = csv.reader(io.StringIO(reply.text))
    cells = dict(zip(head, row, strict=True))
    assert cells["target_name"] == "'=cmd|calc"
    assert json.loads(cells["changes"]) == {"full_name": ["Somebody New", "=cmd|calc"]}
    assert cells["actor_id"] == str(realm.owner.id)


def test_a_collector_misses_nothing_and_gets_nothing_twice(realm: Realm) -> None:
    """Many write at once; whoever reads on from the last number sees all of it, in order."""
    people = [realm.speaker() for _ in range(4)]
    collected: list[int] = []

    def collect() -> None:
        after = collected[-1] if collected else 0
        reply = realm.owner.request("GET", "audit_log/stream", after=after, limit=7)
        assert reply.headers["content-type"] == "application/x-ndjson"
        collected.extend(json.loads(line)["id"] for line in reply.text.splitlines())

    for turn in range(5):
        changes = [
            lambda speaker=speaker, turn=turn: speaker.request(
                "PATCH", "settings", full_name=f"Name {turn} {speaker.id}"
            )
            for speaker in people
        ]
        for reply in at_once(changes):
            check_success(reply)
        collect()
    everything = sorted(entry["id"] for entry in log_of(realm))
    while len(collected) < len(everything):
        collect()
    assert collected == everything


class Explaining(Reader):
    """Instead of rows it finds out how many rows of the log a statement looks at."""

    looked_at = 0

    async def fetch(self, sql: str, *arguments: object) -> list[asyncpg.Record]:
        [row] = await self.connection.fetch(f"explain (analyze, format json) {sql}", *arguments)
        self.looked_at = sum(map(looked_at, json.loads(row[0])))
        return []


def looked_at(node: Json) -> int:
    inside = looked_at(node["Plan"]) if "Plan" in node else sum(map(looked_at, node.get("Plans", ())))
    if node.get("Relation Name") != "audit_entry":
        return inside
    return inside + int((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"])


FILL = """
insert into audit_entry (realm_id, created, act, actor_id, target_kind, target_id, changes)
select $1, now() - interval '20 days' * (1 - n / 20000.0), case when n % 10 < 6 then 'login.succeeded' else 'login.failed' end,
    case when n % 10 < 4 then 1 else 3 + n % 100 end, 'user', case when n % 10 > 5 then 2 else 3 + n % 100 end, '{}'
from generate_series(1, 20000) as n
"""


async def test_a_page_looks_at_few_entries_among_many(realm: Realm) -> None:
    to = {"target_type": "user", "target_id": 2}
    week_ago = time.time() - 7 * 86_400
    connection = await asyncpg.connect(realm.stage.server.postgres_url)
    try:
        # A table of its own stands before the real one: which index is chosen must not depend on what other tests wrote.
        await connection.execute("create temp table audit_entry (like audit_entry including all)")
        await connection.execute(FILL, realm.id)
        await connection.execute("analyze audit_entry")
        searches: list[dict[str, Any]] = [
            {},
            {"before": 10_000_000},
            {"after": await connection.fetchval("select min(id) from audit_entry")},
            {"actor_id": 1},
            {"actor_id": 77},
            {"acts": ("login.failed",)},
            {"acts": acts_named("user")},
            to,
            {"since": week_ago, "until": week_ago + 60},
            {"actor_id": 1, "acts": ("factor.removed",)},
            {"actor_id": 1, **to},
            {"actor_id": 1, **to, "acts": ("login.failed",)},
            {"since": week_ago, "acts": ("user.erased",)},
        ]
        for wanted in searches:
            reader = Explaining(connection)
            await search(reader, Search(realm_id=realm.id, limit=50, **wanted))
            assert reader.looked_at < 500, wanted
    finally:
        await connection.close()
