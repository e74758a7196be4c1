"""POST /drafts and PATCH /drafts/{draft_id}; GET and DELETE as the protocol family has them (protocol/messages.md#drafts)."""

import time

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Queue, Speaker, check_error, check_success

NOWHERE: Json = {"type": "", "to": [], "topic": "", "content": "Text", "timestamp": 1000}


def listed(speaker: Speaker) -> list[Json]:
    state = speaker.post("register", event_types=[], fetch_event_types=["drafts"])
    speaker.delete("events", queue_id=state["queue_id"])
    found: list[Json] = state["drafts"]
    return found


def drafts_queue(speaker: Speaker) -> Queue:
    return speaker.register(event_types=["drafts"])


@pytest.mark.holds("drafts.create", "drafts.create-answer", "drafts.told", "events.drafts")
def test_drafts_are_kept_in_the_order_given_and_told(newcomer: Speaker) -> None:
    with drafts_queue(newcomer) as queue:
        ids = newcomer.post("drafts", drafts=[NOWHERE, NOWHERE | {"content": "Second", "timestamp": 2000}])["ids"]
        assert len(ids) == 2
        [event] = queue.poll()
        assert event == {
            "id": event["id"],
            "type": "drafts",
            "op": "add",
            "drafts": [NOWHERE | {"id": ids[0]}, NOWHERE | {"id": ids[1], "content": "Second", "timestamp": 2000}],
        }
    assert [draft["id"] for draft in newcomer.get("drafts")["drafts"]] == ids
    assert newcomer.get("drafts")["count"] == 2
    assert [draft["id"] for draft in listed(newcomer)] == ids[::-1]


@pytest.mark.holds("drafts.create")
def test_nothing_to_keep_is_no_error_and_no_event(newcomer: Speaker) -> None:
    assert newcomer.post("drafts", drafts=[])["ids"] == []


@pytest.mark.holds("drafts.create-whole")
def test_one_bad_draft_spoils_all_of_them(newcomer: Speaker) -> None:
    check_error(newcomer.request("POST", "drafts", drafts=[NOWHERE, NOWHERE | {"type": "stream"}]))
    assert newcomer.get("drafts")["count"] == 0


@pytest.mark.holds("drafts.create-channel", "limits.draft-channel", "draft.to-channel")
def test_a_channel_draft_names_exactly_one_channel(newcomer: Speaker, channel: Channel) -> None:
    for to in ([], [channel.stream_id, channel.stream_id]):
        check_error(newcomer.request("POST", "drafts", drafts=[NOWHERE | {"type": "stream", "to": to}]))


@pytest.mark.holds("drafts.unknown-channel", "errors.stream-does-not-exist", "errors.impossible-ids")
def test_a_channel_out_of_reach_looks_like_none(newcomer: Speaker, private: Channel) -> None:
    [draft_id] = newcomer.post("drafts", drafts=[NOWHERE])["ids"]
    for stream_id in (private.stream_id, 999_999_999, -1, 2**63):
        draft = NOWHERE | {"type": "stream", "to": [stream_id]}
        for reply in (
            newcomer.request("POST", "drafts", drafts=[NOWHERE, draft]),
            newcomer.request("PATCH", f"drafts/{draft_id}", draft=draft),
        ):
            check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=stream_id)
    assert newcomer.get("drafts")["count"] == 1


@pytest.mark.holds("drafts.edit", "drafts.edit-answer", "drafts.edit-path", "drafts.told", "events.drafts")
def test_an_edit_replaces_the_draft_and_is_told(newcomer: Speaker, channel: Channel) -> None:
    [draft_id] = newcomer.post("drafts", drafts=[NOWHERE])["ids"]
    new = {"type": "stream", "to": [channel.stream_id], "topic": "Plans", "content": "Better", "timestamp": 3000}
    with drafts_queue(newcomer) as queue:
        reply = newcomer.request("PATCH", f"drafts/{draft_id}", draft=new)
        assert reply.json() == {"result": "success", "msg": ""}
        [event] = queue.poll()
        assert event == {"id": event["id"], "type": "drafts", "op": "update", "draft": new | {"id": draft_id}}
    assert newcomer.get("drafts")["drafts"] == [new | {"id": draft_id}]


@pytest.mark.holds("drafts.edit", "drafts.edit-unknown")
def test_an_edit_has_the_rules_of_a_new_draft(newcomer: Speaker, channel: Channel) -> None:
    [draft_id] = newcomer.post("drafts", drafts=[NOWHERE])["ids"]
    before = newcomer.get("drafts")["drafts"]
    path, two = f"drafts/{draft_id}", [channel.stream_id, channel.stream_id]
    changes: list[Json] = [{"id": draft_id}, {"type": "stream"}, {"content": " "}, {"type": "stream", "to": two}]
    for wrong in ("[]", "{}", None, *(NOWHERE | change for change in changes)):
        check_error(newcomer.request("PATCH", path, draft=wrong))
    assert newcomer.get("drafts")["drafts"] == before
    now = time.time()
    untimed = {key: value for key, value in NOWHERE.items() if key != "timestamp"}
    check_success(newcomer.request("PATCH", path, draft=untimed | {"content": "Later"}))
    [found] = newcomer.get("drafts")["drafts"]
    assert (found["content"], found["timestamp"] >= int(now) - 2) == ("Later", True)


@pytest.mark.holds("drafts.delete", "drafts.told")
def test_a_draft_goes_and_is_told(newcomer: Speaker) -> None:
    [draft_id] = newcomer.post("drafts", drafts=[NOWHERE])["ids"]
    with drafts_queue(newcomer) as queue:
        newcomer.delete(f"drafts/{draft_id}")
        [event] = queue.poll()
        assert event == {"id": event["id"], "type": "drafts", "op": "remove", "draft_id": draft_id}
    check_error(newcomer.request("DELETE", f"drafts/{draft_id}"))
    check_error(newcomer.request("PATCH", f"drafts/{draft_id}", draft=NOWHERE))


@pytest.mark.holds("drafts.private", "drafts.edit-unknown")
def test_nobody_else_learns_of_a_draft(newcomer: Speaker, member: Speaker) -> None:
    [draft_id] = newcomer.post("drafts", drafts=[NOWHERE])["ids"]
    unknown = check_error(member.request("PATCH", "drafts/999999999", draft=NOWHERE))
    assert check_error(member.request("PATCH", f"drafts/{draft_id}", draft=NOWHERE)) == unknown
    assert check_error(member.request("DELETE", f"drafts/{draft_id}")) == unknown
    assert draft_id not in [draft["id"] for draft in member.get("drafts")["drafts"]]
    assert newcomer.get("drafts")["count"] == 1


@pytest.mark.holds("drafts.off")
def test_whoever_wants_no_drafts_on_the_server_has_none(newcomer: Speaker) -> None:
    newcomer.request("PATCH", "settings", enable_drafts_synchronization=False)
    for method, path, fields in (
        ("GET", "drafts", {}),
        ("POST", "drafts", {"drafts": [NOWHERE]}),
        ("PATCH", "drafts/1", {"draft": NOWHERE}),
        ("DELETE", "drafts/1", {}),
    ):
        check_error(newcomer.request(method, path, **fields))


@pytest.mark.holds("drafts.people")
def test_drafts_are_for_people(bot: Speaker, nobody: Speaker) -> None:
    check_error(bot.request("GET", "drafts"))
    check_error(nobody.request("GET", "drafts"), "UNAUTHORIZED", 401)
