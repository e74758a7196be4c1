"""The audit log's law: nobody changes it, it ends by age, and what names a person by erasure."""

import asyncio
from typing import Any

import psycopg2
import pytest

from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.organization.audit_log import Act
from tertulia.organization.audit_log.actions import forget_old_entries
from tests.features.organization.test_audit_log import erase, last, log_of
from tests.harness.realm import Realm
from tests.harness.server import Server
from tests.harness.stage import Stage
from tests.harness.talk import check_error, check_success, unique


@pytest.mark.parametrize("table", ["audit_entry", "audit_detail"])
def test_the_database_refuses_to_change_the_log(realm: Realm, table: str) -> None:
    sets = {"audit_entry": "act = 'user.changed'", "audit_detail": "address = ''"}[table]
    for statement in (
        f"update {table} set {sets} where realm_id = %s",
        f"delete from {table} where realm_id = %s",
        f"truncate {table} cascade -- %s",
    ):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege, match="only added to"):
            realm.stage.sql(statement, realm.id)


def test_a_server_with_a_role_of_its_own_has_no_right_to_change_the_log(realm: Realm, server: Server) -> None:
    role = unique("server").replace(" ", "_")
    stage = realm.stage
    stage.sql(f"create role {role} nologin")
    stage.sql(f"grant select, insert on audit_entry, audit_detail to {role}")
    stage.sql(f"grant execute on function audit_forget(integer), audit_erase(bigint, bigint) to {role}")
    try:
        for table in ("audit_entry", "audit_detail"):
            for statement in (f"update {table} set realm_id = 0", f"delete from {table}", f"truncate {table}"):
                with pytest.raises(psycopg2.errors.InsufficientPrivilege, match="permission denied"):
                    as_role(server, role, statement)
        assert as_role(server, role, "select audit_erase(1, 0)") == [(0,)]
        as_role(server, role, "select audit_forget(1)")
    finally:
        stage.sql(f"drop owned by {role}")
        stage.sql(f"drop role {role}")


def as_role(server: Server, role: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg2.connect(server.postgres_url) as connection, connection.cursor() as cursor:
        cursor.execute(f"set local role {role}")
        cursor.execute(statement)
        found = cursor.fetchall() if cursor.description else []
        connection.rollback()
    connection.close()
    return found


# How it ends


def age(realm: Realm, days: int) -> int:
    """One more entry, so many days old."""
    sql = """
    insert into audit_entry (realm_id, created, act, target_kind, target_id, changes)
    values (%s, now() - make_interval(days => %s), 'user.changed', 'user', 1, '{}') returning id
    """
    [(entry_id,)] = realm.stage.sql(sql, realm.id, days)
    realm.stage.sql("insert into audit_detail values (%s, 1, %s, '1.2.3.4', '', '{}')", entry_id, realm.id)
    return int(entry_id)


def kept(realm: Realm) -> set[int]:
    return {entry_id for (entry_id,) in realm.stage.sql("select id from audit_entry where realm_id = %s", realm.id)}


def forget(realm: Realm) -> None:
    async def run() -> None:
        connecting = Database.connect(realm.stage.server.postgres_url, shards=Settings().shards, size=1)
        async with await connecting as database:
            await forget_old_entries(database)

    asyncio.run(run())


def test_entries_are_kept_as_long_as_the_organization_says(realm: Realm, stage: Stage) -> None:
    other = Realm(stage)
    young, old, ancient, elsewhere = age(realm, 40), age(realm, 364), age(realm, 366), age(other, 100)
    forget(realm)
    assert {young, old} <= kept(realm)
    assert ancient not in kept(realm)
    check_success(realm.owner.request("PATCH", "realm", audit_log_retention_days=60))
    assert last(realm, Act.REALM_CHANGED)["changes"] == {"audit_log_retention_days": [365, 60]}
    forget(realm)
    assert young in kept(realm)
    assert old not in kept(realm)
    assert elsewhere in kept(other)
    check_success(realm.owner.request("PATCH", "realm", audit_log_retention_days='"unlimited"'))
    ancient = age(realm, 5000)
    forget(realm)
    assert ancient in kept(realm)
    for speaker in (realm.administrator, realm.member):
        check_error(speaker.request("PATCH", "realm", audit_log_retention_days=60), "UNAUTHORIZED_PRINCIPAL")
    for wrong in (29, 0, -1, '"for ever"'):
        reply = realm.owner.request("PATCH", "realm", audit_log_retention_days=wrong)
        assert reply.json()["code"] == "REQUEST_VARIABLE_INVALID"


def test_nobody_empties_the_log_by_a_short_time(realm: Realm) -> None:
    """Not even with a value that the server would refuse."""
    entry = age(realm, 20)
    sql = "update realm set settings = settings || '{\"audit_log_retention_days\": 1}' where id = %s"
    realm.stage.sql(sql, realm.id)
    forget(realm)
    assert entry in kept(realm)
    with pytest.raises(psycopg2.errors.InsufficientPrivilege):
        realm.stage.sql("delete from audit_entry where id = %s", entry)


def test_erasure_takes_what_names_a_person_and_leaves_the_entries(realm: Realm, server: Server) -> None:
    owner, member, guest = realm.owner, realm.member, realm.guest
    check_success(owner.request("PATCH", f"users/{member.id}", full_name="Grace Hopper"))
    check_success(owner.request("PATCH", f"users/{guest.id}", full_name="Alan Turing"))
    check_success(member.request("PATCH", "settings", full_name="Grace H"))
    before = {entry["id"] for entry in log_of(realm)}
    erase(server, realm, member.id)
    after = log_of(realm)
    assert before < {entry["id"] for entry in after}
    assert after[0]["act"] == "user.erased"
    assert after[0]["target"]["id"] == member.id
    details = str(realm.stage.sql("select * from audit_detail where realm_id = %s", realm.id))
    assert "Grace" not in details
    assert "Alan Turing" in details
    theirs = log_of(realm, actor_id=member.id)[0]
    assert (theirs["address"], theirs["user_agent"], theirs["changes"], theirs["is_erased"]) == (None, None, {}, True)
    by_owner = next(one for one in after if one["act"] == "user.changed" and one["actor_id"] == owner.id)
    assert by_owner["address"] == "127.0.0.1"
