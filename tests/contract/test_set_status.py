"""POST /users/me/status (protocol/people.md#set-status)."""

import pytest

from tests.harness.talk import Json, Queue, Speaker, check_error

SMILE = {"emoji_name": "smile", "emoji_code": "1f604", "reaction_type": "unicode_emoji"}


def told(queue: Queue, speaker: Speaker) -> Json:
    event = next(event for event in queue.poll() if event["user_id"] == speaker.id)
    assert event.pop("type") == "user_status"
    del event["id"]
    shown: Json = event
    return shown


@pytest.mark.holds(
    "set-status.only-passed", "set-status.told", "set-status.text", "set-status.emoji-name", "set-status.away"
)
@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"status_text": " Busy "}, {"status_text": "Busy"}),
        ({"status_text": ""}, {"status_text": ""}),
        ({"emoji_name": "smile"}, SMILE),
        ({"emoji_name": "smile", "emoji_code": "1f604"}, SMILE),
        ({"emoji_name": "smile", "reaction_type": "unicode_emoji"}, SMILE),
        (SMILE | {"status_text": "Glad"}, SMILE | {"status_text": "Glad"}),
        ({"emoji_name": ""}, {"emoji_name": "", "emoji_code": "", "reaction_type": "unicode_emoji"}),
        ({"away": True}, {"away": True}),
    ],
    ids=str,
)
def test_what_was_passed_changes_and_is_told(newcomer: Speaker, member: Speaker, sent: Json, expected: Json) -> None:
    with member.register(event_types=["user_status"]) as queue:
        assert newcomer.post("users/me/status", **sent) == {"result": "success", "msg": ""}
        assert told(queue, newcomer) == {"user_id": newcomer.id, **expected}


@pytest.mark.holds("set-status.errors", "set-status.name-needed", "errors.nothing-changes")
@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"status_text": "x" * 61},
        {"emoji_code": "1f604"},
        {"reaction_type": "unicode_emoji"},
        {"emoji_code": "1f604", "reaction_type": "unicode_emoji"},
        {"status_text": "Busy", "emoji_code": "1f604"},
        {"away": False, "reaction_type": "unicode_emoji"},
        {"emoji_name": "no_such_emoji"},
        {"emoji_name": "smile", "emoji_code": "zzz"},
        {"emoji_name": "two words", "emoji_code": "1f604"},
        {"emoji_name": "smile", "emoji_code": "999999999", "reaction_type": "realm_emoji"},
        {"emoji_name": "smile", "emoji_code": "1f604", "reaction_type": "sticker"},
        {"away": "perhaps"},
    ],
    ids=lambda sent: str(sent)[:60],
)
def test_what_is_no_status_is_refused_and_changes_nothing(newcomer: Speaker, sent: Json) -> None:
    newcomer.post("users/me/status", status_text="Here", emoji_name="tada")
    check_error(newcomer.request("POST", "users/me/status", **sent))
    status = newcomer.get(f"users/{newcomer.id}/status")["status"]
    assert (status["status_text"], status["emoji_name"], "away" in status) == ("Here", "tada", False)


@pytest.mark.holds("set-status.others")
def test_administrators_set_the_status_of_others(owner: Speaker, newcomer: Speaker, member: Speaker) -> None:
    owner.post(f"users/{newcomer.id}/status", status_text="On leave", emoji_name="palm_tree")
    assert newcomer.get(f"users/{newcomer.id}/status")["status"]["status_text"] == "On leave"
    reply = member.request("POST", f"users/{newcomer.id}/status", status_text="Mine")
    check_error(reply, "UNAUTHORIZED_PRINCIPAL")
    check_error(owner.request("POST", "users/999999999/status", status_text="Nobody"))


@pytest.mark.holds("status.away")
def test_a_changed_setting_is_told_as_away(newcomer: Speaker, member: Speaker) -> None:
    with member.register(event_types=["user_status"]) as queue:
        newcomer.request("PATCH", "settings", presence_enabled=False)
        assert told(queue, newcomer) == {"user_id": newcomer.id, "away": True}


@pytest.mark.holds("set-status.people")
def test_programs_have_no_status(bot: Speaker, nobody: Speaker) -> None:
    check_error(bot.request("POST", "users/me/status", status_text="Running"))
    check_error(nobody.request("POST", "users/me/status", status_text="Who"), "UNAUTHORIZED", 401)
