"""Accounts follow the directory of their organization, against a real slapd: names, addresses, groups, roles, and leavers."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from tertulia.cli.commands import app
from tertulia.cli.errors import explain
from tertulia.kernel.db import Transaction
from tertulia.people.users.actions import create_api_key, create_user
from tests.harness.command import tertulia
from tests.harness.forking import Forked
from tests.harness.server import ADMINISTRATOR, GUEST, MEMBER, OWNER, Server, User
from tests.harness.slapd import BASE, GROUPS, LIMITED, PASSWORD, Slapd, directory
from tests.harness.stage import Backstage, Stage, Web
from tests.harness.talk import Json, Speaker, check_error, check_success, eventually, unique

pytestmark = pytest.mark.system
CREW, DESK, VISITORS, CHIEFS = (f"cn={name},{GROUPS}" for name in ("crew", "desk", "visitors", "chiefs"))
MEMBERSHIPS = [
    {"where": CREW, "group": "crew"},
    {"where": DESK, "group": "desk"},
    {"where": "(employeeType=writer)", "group": "writers"},
    {"where": CHIEFS, "role": "administrator"},
    {"where": "(employeeType=visitor)", "role": "guest"},
]
SETTINGS = {"ldap_disabled_filter": "(userAccountControl:1.2.840.113556.1.4.803:=2)"}
LEAVING = 4
"""One more than may always go."""


class Done(NamedTuple):
    """What a command said."""

    code: int
    lines: list[str]
    told: str
    """To the operator, beside the lines."""


class Site:
    """An organization whose people are in a directory."""

    def __init__(self, server: Server, stage: Stage, slapd: Slapd, web: Web, realm_id: int, subdomain: str) -> None:
        self.stage, self.slapd, self.realm_id, self.host = stage, slapd, realm_id, f"{subdomain}.localhost"
        self._web = web
        known = {**slapd.settings(subdomain), **SETTINGS, "ldap_memberships": json.dumps(MEMBERSHIPS)}
        self._settings: dict[str, object] = {"postgres_url": server.postgres_url, **known}
        self.owner = self.speaker(self._make_owner())
        self.groups = {
            name: self.owner.post("user_groups/create", name=name, description="", members=[])["group_id"]
            for name in ("crew", "desk", "writers")
        }

    def _make_owner(self) -> User:
        async def make(tx: Transaction) -> tuple[int, str]:
            user_id = await create_user(tx, self.realm_id, "owner@example.org", "The Owner", OWNER)
            return user_id, await create_api_key(tx, user_id)

        user_id, key = self.stage.write(make)
        return User(user_id, "owner@example.org", None, key, OWNER)

    @property
    def url(self) -> str:
        return self._web.url

    def speaker(self, user: User) -> Speaker:
        return self.stage.speaker(user, url=self._web.url, host=self.host)

    def comes(self, **values: str | int) -> "Known":
        """Somebody new in the directory, who logs in for the first time."""
        uid = unique("person").replace(" ", "")
        name = self.slapd.put_person(uid, **values)
        return Known(self, uid, name, self.log_in(uid))

    def log_in(self, uid: str) -> User:
        nobody = self.stage.nobody(url=self._web.url, host=self.host)
        reply = check_success(nobody.request("POST", "fetch_api_key", username=uid, password=PASSWORD))
        return User(reply["user_id"], reply["email"], None, reply["api_key"], MEMBER)

    def environment(self, **settings: object) -> dict[str, str]:
        return os.environ | {
            f"TERTULIA_{name.upper()}": str(value) for name, value in (self._settings | settings).items()
        }

    def sync(self, *words: str, **settings: object) -> Done:
        return self.command("directory", "sync", *words, **settings)

    def command(self, *words: str, **settings: object) -> Done:
        """The operator's command, in this process: starting one takes longer than what it does."""
        given = {name: value for name, value in self.environment(**settings).items() if name.startswith("TERTULIA_")}
        done = CliRunner().invoke(app, words, env=given)
        failure = done.exception if isinstance(done.exception, Exception) else None
        assert failure is None or explain(failure) is not None, done
        return Done(done.exit_code, done.stdout.splitlines(), done.stderr + str(failure or ""))

    def members(self, group: str) -> set[int]:
        [found] = [one for one in self.owner.get("user_groups")["user_groups"] if one["name"] == group]
        return set(found["members"])

    def record(self, user_id: int) -> Json:
        found: Json = self.owner.get(f"users/{user_id}")["user"]
        return found


class Known(NamedTuple):
    """A person who is in the directory and has an account."""

    site: Site
    uid: str
    entry: str
    user: User

    @property
    def record(self) -> Json:
        return self.site.record(self.user.user_id)

    def speaker(self) -> Speaker:
        return self.site.speaker(self.user)


@pytest.fixture(scope="module")
def site(server: Server, backstage: Backstage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("ldap")
    stage = Stage(server, backstage)
    realm_id, subdomain = stage.realm()
    with directory(folder) as slapd:
        slapd.start()
        placeholder = f"cn=nobody,{BASE}"
        for name in (CREW, CHIEFS, VISITORS):
            slapd.put(name, "groupOfNames", member=placeholder)
        slapd.put(DESK, "posixGroup", gidNumber=7)
        web = Web(server, folder, **slapd.settings(subdomain), **SETTINGS, ldap_memberships=json.dumps(MEMBERSHIPS))
        try:
            site = Site(server, stage, slapd, web.wait(), realm_id, subdomain)
            for _ in range(3):  # so that nobody is alone in the directory
                site.comes()
            yield site
        finally:
            web.stop()
            stage.close()


def test_nothing_changes_where_nothing_is_different(site: Site) -> None:
    somebody = site.comes(cn="Kofi Mensah")
    queue = site.owner.register(event_types=["realm_user", "user_group"])
    done = site.sync()
    assert (done.code, done.lines) == (0, []), done
    assert "0 changes made" in done.told
    site.owner.request("PATCH", f"users/{somebody.user.user_id}", role=300)
    assert [event["person"] for event in queue.poll() if event["type"] == "realm_user"] == [
        {"user_id": somebody.user.user_id, "role": 300}
    ]


def test_names_and_addresses_follow_the_directory_and_everybody_hears_of_it(site: Site) -> None:
    somebody = site.comes(cn="Kofi Mensah")
    address = f"new.{somebody.uid}@example.org"
    site.slapd.change(somebody.entry, cn="Kofi *Mensah* Asante", mail=address)
    queue = site.owner.register(event_types=["realm_user"])
    shown = site.sync("--dry-run")
    assert (shown.code, len(shown.lines)) == (0, 1)
    assert f"name Kofi Mensah -> Kofi Mensah Asante, address {somebody.user.email} -> {address}" in shown.lines[0]
    assert somebody.record["delivery_email"] == somebody.user.email
    done = site.sync()
    assert (done.code, done.lines) == (0, shown.lines)
    assert (somebody.record["full_name"], somebody.record["delivery_email"]) == ("Kofi Mensah Asante", address)
    heard = [event["person"] for event in queue.poll()]
    assert {"user_id": somebody.user.user_id, "full_name": "Kofi Mensah Asante"} in heard
    assert site.log_in(somebody.uid).user_id == somebody.user.user_id


def test_two_people_may_swap_their_addresses_but_nobody_gets_a_strangers(site: Site) -> None:
    one, other = site.comes(), site.comes()
    free = f"{one.uid}-{other.uid}@example.org"
    site.slapd.change(one.entry, mail=other.user.email)
    site.slapd.change(other.entry, mail=free)
    assert site.sync().code == 0
    assert (one.record["delivery_email"], other.record["delivery_email"]) == (other.user.email, free)
    site.slapd.change(one.entry, mail="owner@example.org", cn="Not The Owner")
    done = site.sync()
    assert (done.code, "already in use" in done.lines[0]) == (3, True), done
    assert one.record["full_name"] == "A Person"
    site.slapd.change(one.entry, mail=other.user.email, cn="A Person")
    assert site.sync().code == 0


def test_who_is_gone_is_deactivated_with_all_keys_sessions_and_bots(site: Site) -> None:
    stays, goes = site.comes(), site.comes()
    speaker = goes.speaker()
    bot = speaker.post("bots", full_name="Helper", short_name=goes.uid)
    poll = speaker.register(event_types=["message"]).later()
    site.slapd.remove(goes.entry)
    shown = site.sync("--dry-run")
    assert shown.lines == [f"leaver  {goes.user.email}: not in the directory any more"]
    assert goes.record["is_active"] is True
    assert (site.sync().code, goes.record["is_active"], stays.record["is_active"]) == (0, False, True)
    assert poll.result(20).status_code in (400, 401)
    check_error(speaker.request("GET", "users/me"), "UNAUTHORIZED", 401)
    assert site.record(bot["user_id"])["is_active"] is False
    assert site.sync().lines == []


def test_a_leaver_whose_account_is_busy_keeps_nobody_else_in(site: Site) -> None:
    busy, goes, stays = site.comes(), site.comes(), site.comes()
    site.slapd.remove(busy.entry, goes.entry)
    site.slapd.change(stays.entry, cn="Another Name")
    with site.stage.session() as execute:
        # Whoever sends, subscribes or marks holds their account like that.
        execute("select from account where id = %s for key share", busy.user.user_id)
        done = site.sync()
    assert done.code == 3, done
    assert done.lines[-1].startswith("problem")
    assert "it could not be done now" in done.lines[-1]
    assert (busy.record["is_active"], goes.record["is_active"]) == (True, False)
    assert stays.record["full_name"] == "Another Name"
    assert site.sync().code == 0
    assert not busy.record["is_active"]


def test_who_is_disabled_there_leaves_and_comes_back_only_by_an_administrator(site: Site) -> None:
    somebody = site.comes(userAccountControl=512)
    site.slapd.change(somebody.entry, userAccountControl=514)
    done = site.sync()
    assert (done.code, done.lines) == (0, [f"leaver  {somebody.user.email}: disabled in the directory"])
    site.slapd.change(somebody.entry, userAccountControl=512)
    assert (site.sync().lines, somebody.record["is_active"]) == ([], False)
    site.owner.post(f"users/{somebody.user.user_id}/reactivate")
    assert (site.sync().lines, somebody.record["is_active"]) == ([], True)


def test_who_is_disabled_there_does_not_get_an_account_by_a_first_login(site: Site) -> None:
    uid = unique("gone").replace(" ", "")
    name = site.slapd.put_person(uid, userAccountControl=514)
    nobody = site.stage.nobody(url=site.url, host=site.host)
    for path in ("fetch_api_key", "sessions"):
        refused = nobody.request("POST", path, username=uid, password=PASSWORD)
        check_error(refused, "AUTHENTICATION_FAILED", 401)
    assert site.stage.sql("select 1 from account where email = %s", f"{uid}@example.org") == []
    site.slapd.change(name, userAccountControl=512)
    assert site.record(site.log_in(uid).user_id)["is_active"] is True


def test_who_comes_for_the_first_time_has_the_role_that_the_directory_gives(site: Site) -> None:
    visitor, chief = unique("visitor").replace(" ", ""), unique("chief").replace(" ", "")
    site.slapd.put_person(visitor, employeeType="visitor")
    site.slapd.change(CHIEFS, member=[site.slapd.put_person(chief)])
    known = [site.log_in(uid).user_id for uid in (visitor, chief)]
    assert [site.record(user_id)["role"] for user_id in known] == [GUEST, ADMINISTRATOR]
    site.slapd.change(CHIEFS, member=[f"cn=nobody,{BASE}"])
    assert (site.sync().code, site.record(known[1])["role"]) == (0, MEMBER)


def test_whose_entry_was_made_anew_stays_when_the_operator_says_that_it_is_theirs(site: Site) -> None:
    somebody = site.comes()
    site.slapd.remove(somebody.entry)
    site.slapd.put_person(somebody.uid)
    unlinked = site.command("user", "unlink", somebody.user.email, "--realm", site.host.partition(".")[0])
    assert (unlinked.code, unlinked.lines) == (0, ["1"]), unlinked
    assert site.log_in(somebody.uid).user_id == somebody.user.user_id
    assert (site.sync().lines, somebody.record["is_active"]) == ([], True)


def test_accounts_that_are_not_from_the_directory_are_left_alone(site: Site) -> None:
    site.owner.post(f"user_groups/{site.groups['crew']}/members", add=[site.owner.id])
    assert site.sync().lines == []
    assert site.owner.get("users/me")["is_active"] is True
    assert site.members("crew") == {site.owner.id}
    site.owner.post(f"user_groups/{site.groups['crew']}/members", delete=[site.owner.id])


def test_groups_follow_entries_of_groups_and_filters_about_people(site: Site) -> None:
    sailor, clerk, writer = site.comes(), site.comes(), site.comes(employeeType="writer")
    ids = [one.user.user_id for one in (sailor, clerk, writer)]
    spelled = sailor.entry.upper().replace(",", ", ")
    site.slapd.change(CREW, member=[spelled, f"cn=somebody unknown,{BASE}"])
    site.slapd.change(DESK, memberUid=[clerk.uid, "unknown"])
    queue = site.owner.register(event_types=["user_group"])
    done = site.sync()
    assert (done.code, len(done.lines)) == (0, 3), done
    assert [site.members(name) for name in ("crew", "desk", "writers")] == [{ids[0]}, {ids[1]}, {ids[2]}]
    heard: list[Any] = []
    while len(heard) < 3:
        heard += queue.poll()
    assert {(event["op"], event["group_id"], *event["user_ids"]) for event in heard} == {
        ("add_members", site.groups[name], id) for name, id in zip(("crew", "desk", "writers"), ids, strict=True)
    }
    site.slapd.change(CREW, member=[clerk.entry])
    site.slapd.change(writer.entry, employeeType=[])
    assert site.sync().code == 0
    assert [site.members(name) for name in ("crew", "desk", "writers")] == [{ids[1]}, {ids[1]}, set()]
    site.slapd.change(DESK, memberUid=[])
    site.slapd.change(CREW, member=[f"cn=nobody,{BASE}"])
    assert (site.sync().code, site.members("desk")) == (0, set())


def test_a_group_that_cannot_be_read_or_is_not_there_takes_nobody_out_and_leavers_go_all_the_same(site: Site) -> None:
    sailor, goes = site.comes(), site.comes()
    site.slapd.change(CREW, member=[sailor.entry])
    assert site.sync().code == 0
    site.slapd.remove(CREW, goes.entry)
    done = site.sync()
    assert (done.code, site.members("crew")) == (3, {sailor.user.user_id}), done
    assert goes.record["is_active"] is False
    site.slapd.put(CREW, "groupOfNames", member=f"cn=nobody,{BASE}")
    unknown = json.dumps([{"where": CREW, "group": "nobody made it"}])
    done = site.sync(ldap_memberships=unknown)
    assert (done.code, "no group nobody made it" in done.lines[0]) == (3, True)
    assert (site.sync().code, site.members("crew")) == (0, set())


def test_roles_come_and_go_with_groups_and_owners_stay_owners(site: Site) -> None:
    chief, visitor = site.comes(), site.comes(employeeType="visitor")
    site.slapd.change(CHIEFS, member=[chief.entry])
    assert site.sync().code == 0
    assert (chief.record["role"], visitor.record["role"]) == (ADMINISTRATOR, GUEST)
    site.owner.request("PATCH", f"users/{visitor.user.user_id}", role=OWNER)
    site.slapd.change(CHIEFS, member=[f"cn=nobody,{BASE}"])
    assert site.sync().code == 0
    assert (chief.record["role"], visitor.record["role"]) == (MEMBER, OWNER)
    site.owner.request("PATCH", f"users/{visitor.user.user_id}", role=GUEST)


def test_the_only_owner_stays_whatever_the_directory_says(site: Site) -> None:
    heir = site.comes()
    site.stage.sql("update account set role = 100 where id = %s", heir.user.user_id)
    site.stage.sql("update account set role = 200 where id = %s", site.owner.id)
    site.slapd.remove(heir.entry)
    try:
        done = site.sync()
        assert (done.code, heir.record["is_active"]) == (3, True), done
        assert "only organization owner" in done.lines[0]
    finally:
        site.stage.sql("update account set role = 100 where id = %s", site.owner.id)
    assert (site.sync().code, heir.record["is_active"]) == (0, False)


def test_suspiciously_many_leavers_are_refused_until_the_operator_says_how_many(site: Site) -> None:
    going = [site.comes() for _ in range(LEAVING)]
    renamed = site.comes()
    site.slapd.change(renamed.entry, cn="Another Name")
    site.slapd.remove(*(one.entry for one in going))
    refused = tertulia("directory", "sync", env=site.environment())
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "Traceback" not in refused.stderr
    assert f"--max-leavers {LEAVING}" in refused.stderr
    assert all(one.record["is_active"] for one in going)
    assert renamed.record["full_name"] == "A Person"
    shown = site.sync("--dry-run")
    assert (shown.code, len(shown.lines)) == (1, LEAVING + 1)
    assert site.sync("--max-leavers", str(LEAVING - 1)).code == 1
    assert site.sync("--max-leavers", str(LEAVING)).code == 0
    assert not any(one.record["is_active"] for one in going)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"ldap_people_filter": "(objectClass=room)"}, "shows nobody"),
        ({"ldap_id_attribute": "employeeNumber"}, "does not show employeeNumber"),
        ({"ldap_search_base": f"ou=nowhere,{BASE}"}, "no such entry"),
        ({"ldap_people_filter": "objectClass=person)("}, "cannot be asked"),
        ({"ldap_disabled_filter": "rubbish"}, "cannot be asked"),
        ({"ldap_bind_password": "wrong"}, "cannot be asked"),
        ({"ldap_bind_dn": "", "ldap_bind_password": ""}, "irectory"),
        ({"ldap_url": "ldap://localhost:9"}, "cannot be asked"),
        ({"ldap_search_base": "", "ldap_user_dn_template": "uid={username}"}, "ldap_search_base"),
        ({"ldap_url": ""}, "no directory"),
        ({"ldap_realm": "unheard-of"}, "no organization"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else None,
)
def test_a_directory_that_does_not_say_who_is_in_it_changes_nothing(
    site: Site, settings: dict[str, object], told: str
) -> None:
    somebody = site.comes()
    done = site.sync("--max-leavers", "1000", **settings)
    assert (done.code, done.lines) == (1, []), done
    assert told in done.told
    assert somebody.record["is_active"] is True


def test_a_large_directory_is_read_in_pages_and_half_an_answer_is_none(site: Site) -> None:
    somebody = site.comes()
    crowd = [f"crowd{number:04}" for number in range(1100)]
    with site.slapd._administrator() as connection:
        for uid in crowd:
            values = {"uid": uid, "cn": uid, "sn": uid, "mail": f"{uid}@example.org"}
            assert connection.add(f"uid={uid},ou=people,{BASE}", ["inetOrgPerson"], values)
    last = site.comes()
    done = site.sync("--max-leavers", "1000", ldap_bind_dn=LIMITED)
    assert (done.code, "only a part" in done.told) == (1, True), done
    started = time.monotonic()
    done = site.sync()
    print(f"1,100 entries in {time.monotonic() - started:.1f} s")
    assert (done.code, done.lines) == (0, [])
    assert (somebody.record["is_active"], last.record["is_active"]) == (True, True)
    site.slapd.remove(*(f"uid={uid},ou=people,{BASE}" for uid in crowd))


def logs_in(folder: Path) -> str:
    return "".join(log.read_text() for log in folder.glob("*.log"))


def test_a_worker_compares_by_itself_where_that_is_set_and_refuses_as_the_command_does(
    site: Site, tmp_path: Path
) -> None:
    goes = site.comes()
    site.slapd.remove(goes.entry)
    settings = {"nats_url": site.stage.server.nats_url, "ldap_sync_minutes": 60}
    site.stage.sql("delete from directory_sync where realm_id = %s", site.realm_id)
    workers = [Forked(["worker"], tmp_path / f"{n}.log", env=site.environment(**settings)) for n in range(2)]
    for worker in workers:
        worker.start()
    try:
        eventually(lambda: not goes.record["is_active"])
        going = [site.comes() for _ in range(LEAVING)]
        site.slapd.remove(*(one.entry for one in going))
        site.stage.sql("delete from directory_sync where realm_id = %s", site.realm_id)
        eventually(lambda: "were not compared" in logs_in(tmp_path), 60)
        assert all(one.record["is_active"] for one in going)
        assert logs_in(tmp_path).count('"kind": "leaver"') == 1
        assert goes.user.email not in logs_in(tmp_path)
    finally:
        for worker in workers:
            worker.stop(signal.SIGTERM, 20)
    assert site.sync("--max-leavers", str(LEAVING)).code == 0
