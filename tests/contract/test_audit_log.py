"""The audit log (protocol/people.md#audit-log)."""

import csv
import io
import json

import pytest

from tests.harness.talk import Json, Speaker, check_error, unique

KEYS = {
    *("id", "timestamp", "act", "actor_id", "actor_name", "key_id", "session_id", "address", "user_agent", "target"),
    *("changes", "is_erased"),
}


@pytest.fixture
def made(owner: Speaker) -> int:
    """A group, whose making is the newest that the owner did to a group."""
    found: int = owner.post("user_groups/create", name=unique("group"), description="", members=[])["group_id"]
    return found


def entries(owner: Speaker, **filters: object) -> list[Json]:
    found: list[Json] = owner.get("audit_log", **filters)["entries"]
    return found


@pytest.mark.holds("audit-log.owners")
@pytest.mark.parametrize("path", ["audit_log", "audit_log/csv", "audit_log/stream", "audit_log/acts"])
def test_only_owners_read_it(member: Speaker, guest: Speaker, bot: Speaker, path: str) -> None:
    for speaker in (member, guest, bot):
        check_error(speaker.request("GET", path), "UNAUTHORIZED_PRINCIPAL")


@pytest.mark.holds("audit-log.entry", "audit-log.filters")
def test_an_entry_is_found_by_each_filter(owner: Speaker, made: int) -> None:
    wanted = {"target_type": "group", "target_id": made}
    [entry] = entries(owner, **wanted)
    assert entry.keys() == KEYS
    assert (entry["act"], entry["actor_id"], entry["target"]["id"]) == ("group.created", owner.id, made)
    assert entry["changes"]["members"] == [None, []]
    for more in ({"act": "group"}, {"act": "group.created"}, {"actor_id": owner.id}, {"since": entry["timestamp"] - 1}):
        assert entries(owner, **wanted, **more) == [entry]
    for other in ({"act": "user"}, {"actor_id": 0}, {"until": entry["timestamp"] - 1}, {"before": entry["id"]}):
        assert entries(owner, **wanted, **other) == []
    page = owner.get("audit_log", limit=1)
    assert page["next"] == page["entries"][0]["id"]
    assert owner.get("audit_log", limit=1, before=page["next"])["entries"][0]["id"] < page["next"]
    assert owner.get("audit_log", **wanted)["next"] is None


@pytest.mark.holds("audit-log.csv")
def test_it_can_be_had_as_a_table(owner: Speaker, made: int) -> None:
    reply = owner.request("GET", "audit_log/csv", target_type="group", target_id=made)
    head, row = csv.reader(io.StringIO(reply.text))
    assert dict(zip(head, row, strict=True))["act"] == "group.created"


@pytest.mark.holds("audit-log.stream")
def test_it_can_be_read_on_from_an_entry(owner: Speaker, made: int) -> None:
    [entry] = entries(owner, target_type="group", target_id=made)
    reply = owner.request("GET", "audit_log/stream", after=entry["id"] - 1, limit=1)
    assert json.loads(reply.text) == entry
    assert owner.request("GET", "audit_log/stream", after=2**60).text == ""
