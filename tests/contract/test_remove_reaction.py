"""DELETE /messages/{message_id}/reactions; and POST, as the protocol family has it (protocol/messages.md#reactions)."""

import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Queue, Speaker, check_error, unique

SMILE = {"emoji_name": "smile", "emoji_code": "1f604", "reaction_type": "unicode_emoji"}
EXTRA = {"emoji_name": "tertulia", "emoji_code": "tertulia", "reaction_type": "service_extra_emoji"}


@pytest.fixture
def message(member: Speaker, channel: Channel) -> int:
    return member.send(channel.stream_id, unique("Reactions"))


def told(queue: Queue) -> Json:
    [event] = queue.poll()
    assert event.pop("type") == "reaction"
    del event["id"]
    shown: Json = event
    return shown


def on(speaker: Speaker, message: int) -> list[Json]:
    """The reactions on a message, oldest first."""
    found: list[Json] = speaker.message(message)["reactions"]
    return found


def reacting(message: int) -> str:
    return f"messages/{message}/reactions"


@pytest.mark.holds("reactions.add", "reactions.path")
def test_a_reaction_is_seen_and_told(member: Speaker, other: Speaker, message: int) -> None:
    with member.register(event_types=["reaction"]) as queue:
        assert other.post(reacting(message), emoji_name="smile") == {"result": "success", "msg": ""}
        event = told(queue)
        user = event.pop("user")
        assert user == {"user_id": other.id, "email": other.email, "full_name": other.get("users/me")["full_name"]}
        assert event == {"op": "add", "message_id": message, "user_id": other.id, **SMILE}
        assert on(member, message) == [{**SMILE, "user_id": other.id}]
        assert other.delete(reacting(message), emoji_name="smile") == {"result": "success", "msg": ""}
        event = told(queue)
        assert event == {"op": "remove", "message_id": message, "user_id": other.id, **SMILE, "user": user}
        assert on(member, message) == []


@pytest.mark.holds("reactions.type-found", "reactions.optional", "reactions.types")
@pytest.mark.parametrize(
    "fields",
    [
        {"emoji_name": "smile"},
        {"emoji_code": "1f604"},
        {"emoji_name": "smile", "emoji_code": "1f604"},
        {"emoji_name": "smile", "reaction_type": "unicode_emoji"},
        {"emoji_code": "1f604", "reaction_type": "unicode_emoji"},
        SMILE,
    ],
    ids="+".join,
)
def test_name_or_code_say_which_reaction_goes_and_the_type_is_found(
    member: Speaker, message: int, fields: dict[str, str]
) -> None:
    member.post(reacting(message), **SMILE)
    member.delete(reacting(message), **fields)
    assert on(member, message) == []


@pytest.mark.holds("reactions.optional")
def test_everything_is_optional_but_something_is_needed(member: Speaker, message: int) -> None:
    check_error(member.request("DELETE", reacting(message)))
    check_error(member.request("DELETE", reacting(message), reaction_type="unicode_emoji"))


@pytest.mark.holds("reactions.not-there", "errors.reaction-does-not-exist", "reactions.path")
def test_what_is_not_there_cannot_be_removed(member: Speaker, other: Speaker, message: int) -> None:
    other.post(reacting(message), emoji_name="smile")
    for fields in ({"emoji_name": "smile"}, {"emoji_code": "1f604"}, SMILE, EXTRA, {"emoji_name": "tada"}):
        check_error(member.request("DELETE", reacting(message), **fields), "REACTION_DOES_NOT_EXIST")
    assert len(on(member, message)) == 1


@pytest.mark.holds("reactions.invalid-code")
@pytest.mark.parametrize("code", ["zzz", "1f604-1f604", "99999999999", "-"])
@pytest.mark.parametrize("kind", [None, "unicode_emoji", "realm_emoji", "service_extra_emoji"])
def test_a_code_that_is_none_is_invalid(member: Speaker, message: int, code: str, kind: str | None) -> None:
    reply = member.request("DELETE", reacting(message), emoji_code=code, reaction_type=kind)
    assert check_error(reply) == "Invalid emoji code"


@pytest.mark.holds("reactions.types")
@pytest.mark.parametrize("fields", [{"emoji_name": "smile"}, {"emoji_code": "1f604"}, SMILE], ids="+".join)
def test_a_type_that_is_none_is_refused(member: Speaker, message: int, fields: dict[str, str]) -> None:
    member.post(reacting(message), **SMILE)
    for method in ("DELETE", "POST"):
        for wrong in ("sticker", "", "Unicode_emoji"):
            check_error(member.request(method, reacting(message), **(fields | {"reaction_type": wrong})))
    assert len(on(member, message)) == 1


@pytest.mark.holds("reactions.once")
def test_the_same_twice_is_refused(member: Speaker, message: int) -> None:
    member.post(reacting(message), emoji_name="+1")
    check_error(member.request("POST", reacting(message), emoji_name="thumbs_up"), "REACTION_ALREADY_EXISTS")
    assert len(on(member, message)) == 1


@pytest.mark.holds("reactions.name")
def test_a_second_voter_uses_the_name_that_is_there(member: Speaker, other: Speaker, message: int) -> None:
    member.post(reacting(message), emoji_name="thumbs_up")
    other.post(reacting(message), emoji_name="+1")
    assert [(one["emoji_name"], one["user_id"]) for one in on(member, message)] == [
        ("thumbs_up", member.id),
        ("thumbs_up", other.id),
    ]
    other.delete(reacting(message), emoji_name="+1")
    assert [one["user_id"] for one in on(member, message)] == [member.id]


@pytest.mark.holds("reactions.name")
def test_a_known_code_wins_over_the_name(member: Speaker, message: int) -> None:
    member.post(reacting(message), emoji_name="a_name_of_some_client", emoji_code="1F604")
    assert on(member, message) == [{**SMILE, "emoji_name": "a_name_of_some_client", "user_id": member.id}]


@pytest.mark.holds("reactions.types", "status.older-spelling")
def test_the_extra_emoji_has_an_older_spelling_of_its_type(member: Speaker, other: Speaker, message: int) -> None:
    member.post(reacting(message), **(EXTRA | {"reaction_type": "zulip_extra_emoji"}))
    assert on(member, message) == [{**EXTRA, "user_id": member.id}]
    with (
        other.register(event_types=["reaction"], client="ZulipMobile") as old,
        other.register(event_types=["reaction"]) as new,
    ):
        member.delete(reacting(message), emoji_name="tertulia")
        assert told(old)["reaction_type"] == "zulip_extra_emoji"
        assert told(new)["reaction_type"] == "service_extra_emoji"


@pytest.mark.holds("reactions.add")
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"emoji_name": "no_such_emoji"},
        {"emoji_name": ""},
        {"emoji_name": "😄"},
        {"emoji_name": ":smile:"},
        {"emoji_name": "smile", "emoji_code": "zzz"},
        {"emoji_name": "two words", "emoji_code": "1f604"},
        {"emoji_name": "smile", "emoji_code": "999999999", "reaction_type": "realm_emoji"},
        {"emoji_name": "smile", "reaction_type": "realm_emoji"},
        {"emoji_name": "smile", "emoji_code": "smile", "reaction_type": "service_extra_emoji"},
        {"emoji_name": "smile", "emoji_code": "tertulia", "reaction_type": "service_extra_emoji"},
        {"emoji_name": "smile", "emoji_code": "1f604", "reaction_type": "sticker"},
    ],
    ids=str,
)
def test_what_is_no_emoji_is_refused(member: Speaker, message: int, fields: dict[str, str]) -> None:
    check_error(member.request("POST", reacting(message), **fields))
    assert on(member, message) == []


@pytest.mark.holds("reactions.out-of-reach")
def test_a_message_out_of_reach_looks_like_none(
    owner: Speaker, member: Speaker, guest: Speaker, private: Channel, message: int
) -> None:
    secret = owner.send(private.stream_id, "Secret")
    for method in ("POST", "DELETE"):
        unknown = check_error(member.request(method, reacting(999_999_999), emoji_name="smile"))
        assert check_error(member.request(method, reacting(secret), emoji_name="smile")) == unknown
        assert check_error(guest.request(method, reacting(message), emoji_name="smile")) == unknown


@pytest.mark.holds("reactions.out-of-reach", "reactions.add")
def test_a_direct_message_is_reacted_to_by_those_who_take_part(member: Speaker, other: Speaker, owner: Speaker) -> None:
    sent = member.send([other.id])
    with member.register(event_types=["reaction"]) as queue, owner.register(event_types=["reaction"]) as apart:
        other.post(reacting(sent), emoji_name="heart")
        assert told(queue)["user_id"] == other.id
        check_error(owner.request("POST", reacting(sent), emoji_name="heart"))
        assert apart.request(dont_block=True).json()["events"] == []
