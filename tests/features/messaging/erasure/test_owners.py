"""Owners erase people and hold them by themselves: the worker does it, and nobody who is not an owner at that moment may ask."""

from typing import Any

import pytest

from tertulia.kernel.db import Transaction
from tertulia.messaging.erasure.queries import claim_due
from tests.features.messaging.erasure.test_erasing import TYPES
from tests.harness.command import tertulia
from tests.harness.passwords import PASSWORD, give_password
from tests.harness.realm import Realm
from tests.harness.scim import Directory
from tests.harness.server import OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success, eventually, unique


@pytest.fixture
def realm(realm: Realm) -> Realm:
    give_password(realm.stage, *realm.all)
    return realm


def erasure_of(owner: Speaker, person: Speaker) -> Json:
    return owner.get(f"users/{person.id}/erasure")


def when_erased(owner: Speaker, person: Speaker) -> Json:
    eventually(lambda: erasure_of(owner, person)["erasure"]["finished_timestamp"], 60)
    erased: Json = erasure_of(owner, person)["erasure"]
    return erased


def acts_of(realm: Realm, prefix: str) -> list[tuple[str, int | None]]:
    entries = realm.owner.get("audit_log", act=prefix)["entries"]
    return [(entry["act"], entry["actor_id"]) for entry in entries]


def test_an_owner_erases_somebody_the_worker_does_it_and_clients_and_the_receipt_tell(
    realm: Realm, stage: Stage, server: OwnServer
) -> None:
    owner, person, other = realm.owner, realm.speaker(), realm.member
    channel = stage.channel(person, other, realm_id=realm.id)
    said = person.send(channel.stream_id, "tea", "mine")
    queue = Queue(other, event_types=TYPES)
    assert erasure_of(owner, person) | {"result": "success", "msg": ""} == {
        "result": "success",
        "msg": "",
        "is_held": False,
        "erasure": None,
    }
    unproved = owner.request("POST", f"users/{person.id}/erase", messages="delete")
    check_error(unproved, "REAUTHENTICATION_REQUIRED", 403, methods=["password"])
    with server.paused("worker"):
        owner.post(f"users/{person.id}/erase", messages="delete", password=PASSWORD)
        check_error(person.request("GET", "users/me"), "UNAUTHORIZED", 401)
        begun = erasure_of(owner, person)["erasure"]
        assert (begun["steps_done"], begun["finished_timestamp"], begun["tables"]) == (0, None, None)
        assert other.message(said)["content"]
    done = when_erased(owner, person)
    assert (done["messages"], done["asked_by"]) == ("delete", owner.id)
    assert done["steps_done"] == done["steps_total"]
    lines = {line["table"]: line for line in done["tables"]}
    assert (lines["message"]["erased"], lines["message"]["kept"]) == (1, 0)
    assert (lines["account"]["erased"], lines["account"]["kept"]) == (1, 1)
    assert "backups" in [one["where"] for one in done["outside"]]
    told = queue.so_far()
    people = [event["person"] for event in told if event["type"] == "realm_user"]
    assert {"user_id": person.id, "full_name": f"Deleted user {person.id}"} in people
    assert [event["message_id"] for event in told if event["type"] == "delete_message"] == [said]
    assert acts_of(realm, "user.erased") == [("user.erased", owner.id)]
    printed = tertulia("user", "receipt", str(person.id), env=server.environment())
    assert "Messages: delete" in printed.stdout


def test_an_archive_that_is_being_made_is_listed_by_its_maker_alone_when_somebody_is_erased(realm: Realm) -> None:
    """Were it deleted before it is written, a maker who dies right after would leave it in the store for good."""
    owner, person = realm.owner, realm.speaker()
    keys = [f"exports/{unique('made').replace(' ', '-')}" for _ in range(2)]
    making = """
    insert into export_job (realm_id, user_id, scope, attempts, key, due) values (%s, %s, 'mine', 1, %s, 'infinity')
    """
    for asking, key in zip((person, owner), keys, strict=True):
        realm.stage.sql(making, realm.id, asking.id, key)
        realm.stage.sql("insert into orphan_object (key, due) values (%s, now() + interval '1 hour')", key)
    owner.post(f"users/{person.id}/erase", password=PASSWORD)
    when_erased(owner, person)
    assert not realm.stage.sql("select 1 from export_job where key = any(%s) and ended is null", keys)
    assert len(realm.stage.sql("select 1 from orphan_object where key = any(%s) and due > now()", keys)) == len(keys)


def test_whoever_was_erased_gets_no_name_back_by_an_owner_a_directory_or_the_operator(
    realm: Realm, server: OwnServer
) -> None:
    """A directory knows them still, and tells what it knows again and again."""
    owner, person, came_back = realm.owner, realm.speaker(), "does not come back"
    bot = realm.bot(person)
    owner.post(f"users/{person.id}/erase", password=PASSWORD)
    when_erased(owner, person)
    before = owner.get(f"users/{person.id}")["user"]
    changes: list[Json] = [{"full_name": "Ada"}, {"new_email": "ada@example.com"}, {"role": 100}, {"profile_data": []}]
    for change in changes:
        assert came_back in check_error(owner.request("PATCH", f"users/{person.id}", **change))
    assert came_back in check_error(owner.request("PATCH", f"bots/{bot.id}", full_name="Ada's bot"))
    assert came_back in check_error(owner.request("POST", f"users/{person.id}/status", status_text="was Ada"))
    directory = Directory.of(realm)
    for path in ("userName", "displayName", "name.formatted", "externalId"):
        known = {"op": "replace", "path": path, "value": "ada@example.com"}
        assert came_back in directory.patch(f"/Users/{person.id}", known).json()["detail"]
    directory.http.close()
    words = ("user", "role", str(person.id), "owner", "--realm", realm.subdomain)
    assert tertulia(*words, env=server.environment()).returncode != 0
    assert owner.get(f"users/{person.id}")["user"] == before


def test_only_who_is_an_owner_at_that_moment_erases_and_nobody_of_another_organization(
    realm: Realm, stage: Stage
) -> None:
    owner, person = realm.owner, realm.speaker()
    proof = {"password": PASSWORD}
    for speaker in (realm.administrator, realm.member):
        check_error(speaker.request("POST", f"users/{person.id}/erase", **proof), "UNAUTHORIZED_PRINCIPAL")
    assert "only owner" in check_error(owner.request("POST", f"users/{owner.id}/erase", **proof))
    stranger = Realm(stage).owner
    give_password(stage, stranger)
    for path in (f"users/{person.id}/erase", f"users/{realm.bot(person).id}/erase", "users/999999999/erase"):
        assert check_error(stranger.request("POST", path, **proof)) == "No such user"
    assert check_error(stranger.request("GET", f"users/{person.id}/erasure")) == "No such user"
    assert check_error(owner.request("POST", f"users/{realm.bot(person).id}/erase", **proof)) == "No such user"
    with stage.session() as execute:  # demoted between the proof and the write
        execute("update account set role = 200 where id = %s", owner.id)
        asked = owner.later("POST", f"users/{person.id}/erase", **proof)
        _until_locked(stage)
    assert asked.result(30).json()["code"] == "UNAUTHORIZED_PRINCIPAL"
    assert stage.sql("select count(*) from erasure where user_id = %s", person.id) == [(0,)]
    person.get("users/me")


def _until_locked(stage: Stage) -> None:
    """Somebody waits for a row of accounts."""
    waiting = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query like '%%from account%%'"
    eventually(lambda: stage.sql(waiting)[0][0])


def test_owners_hold_people_which_forbids_erasing_and_end_only_what_owners_placed(
    realm: Realm, stage: Stage, server: OwnServer
) -> None:
    owner, person = realm.owner, realm.speaker()
    second = realm.speaker(100)
    give_password(stage, second)
    proof = {"password": PASSWORD}
    unproved = owner.request("POST", "legal_holds", user_id=person.id)
    check_error(unproved, "REAUTHENTICATION_REQUIRED", 403, methods=["password"])
    check_error(realm.administrator.request("POST", "legal_holds", **proof), "UNAUTHORIZED_PRINCIPAL")
    hold_id = owner.post("legal_holds", user_id=person.id, reason="case 7", **proof)["id"]
    assert "held already" in check_error(owner.request("POST", "legal_holds", user_id=person.id, **proof))
    check_error(owner.request("POST", "legal_holds", reason="x" * 201, **proof))
    [hold] = owner.get("legal_holds")["holds"]
    assert (hold["id"], hold["user_id"], hold["reason"], hold["made_by"]) == (hold_id, person.id, "case 7", owner.id)
    assert erasure_of(owner, person)["is_held"]
    assert "legal hold" in check_error(owner.request("POST", f"users/{person.id}/erase", **proof))
    person.get("users/me")

    stranger = Realm(stage).owner
    give_password(stage, stranger)
    assert stranger.get("legal_holds")["holds"] == []
    assert check_error(stranger.request("POST", "legal_holds", user_id=person.id, **proof)) == "No such user"
    nothing = check_error(stranger.request("DELETE", "legal_holds/999999999", **proof))
    assert check_error(stranger.request("DELETE", f"legal_holds/{hold_id}", **proof)) == nothing

    on_second = owner.post("legal_holds", user_id=second.id, **proof)["id"]
    assert "on themselves" in check_error(second.request("DELETE", f"legal_holds/{on_second}", **proof))
    env = server.environment()
    by_operator = tertulia("hold", "add", "--realm", realm.subdomain, env=env).stdout.strip()
    assert "operator" in check_error(owner.request("DELETE", f"legal_holds/{by_operator}", **proof))
    assert len(owner.get("legal_holds")["holds"]) == 3
    assert tertulia("hold", "remove", by_operator, "--realm", realm.subdomain, env=env).returncode == 0
    channel = stage.channel(person, realm_id=realm.id)
    person.delete(f"messages/{person.send(channel.stream_id, 'tea', 'gone')}")
    gone = check_success(second.request("DELETE", f"legal_holds/{hold_id}", **proof))
    assert gone["copies"] == 1
    assert not erasure_of(owner, person)["is_held"]
    assert ("hold.removed", second.id) in acts_of(realm, "hold")
    assert ("hold.added", owner.id) in acts_of(realm, "hold")


def test_a_hold_of_the_organization_stops_an_erasure_until_it_ends(
    realm: Realm, stage: Stage, server: OwnServer
) -> None:
    owner, person = realm.owner, realm.speaker()
    proof: dict[str, Any] = {"password": PASSWORD}
    with server.paused("worker"):
        owner.post(f"users/{person.id}/erase", **proof)
        hold_id = owner.post("legal_holds", **proof)["id"]
    stage.sql("update erasure set due = now() where user_id = %s", person.id)
    other = Realm(stage)
    give_password(stage, other.owner)
    other.owner.post(f"users/{other.member.id}/erase", **proof)
    when_erased(other.owner, other.member)  # so the worker has looked at what is due
    assert erasure_of(owner, person)["is_held"]
    assert erasure_of(owner, person)["erasure"]["steps_done"] == 0
    assert owner.get(f"users/{person.id}")["user"]["full_name"] == "Somebody New"
    check_success(owner.request("DELETE", f"legal_holds/{hold_id}", **proof))
    stage.sql(
        "update erasure set due = now() where user_id = %s", person.id
    )  # the worker does not wait for a minute here
    when_erased(owner, person)
    assert owner.get(f"users/{person.id}")["user"]["full_name"] == f"Deleted user {person.id}"


class _NotDone(Exception):
    pass


def test_an_organization_that_asks_for_many_does_not_come_before_one_that_asks_for_few(
    realm: Realm, stage: Stage
) -> None:
    other_id, _ = stage.realm()
    few = stage.user(realm_id=other_id)
    done, many = realm.guest.id, realm.member.id
    claimed: list[int] = []

    async def claim(tx: Transaction) -> None:
        for realm_id, user_id, minutes in ((realm.id, done, 0), (realm.id, many, 90), (other_id, few.user_id, 60)):
            sql = """
            insert into erasure (realm_id, user_id, account_ids, messages, stage, due, finished)
            values ($1, $2, array[$2::bigint], 'keep', case when $3::int > 0 then 'account' end,
                now() - make_interval(mins => $3), case when $3 = 0 then now() end)
            """
            await tx.execute(sql, realm_id, user_id, minutes)
        claimed.append(await tx.fetchval("select user_id from erasure where id = $1", await claim_due(tx)))
        raise _NotDone

    with pytest.raises(_NotDone):
        stage.write(claim)
    assert claimed == [few.user_id]
