"""Custom emoji (protocol/people.md#custom-emoji)."""

import struct
import zlib

import httpx
import pytest

from tests.harness.server import Channel
from tests.harness.talk import Json, Speaker, check_error, check_success, unique


def png(red: int = 200, side: int = 100) -> bytes:
    """A picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes([red, 80, 40]) * side) * side
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.fixture
def name() -> str:
    return unique("emoji").replace(" ", "_")


def upload(speaker: Speaker, name: str, *files: bytes) -> httpx.Response:
    sent = [(f"f{number}", (f"{number}.png", data, "image/png")) for number, data in enumerate(files)]
    return (
        speaker.http.post(f"realm/emoji/{name}", files=sent) if sent else speaker.request("POST", f"realm/emoji/{name}")
    )


def made(speaker: Speaker, name: str, picture: bytes | None = None) -> Json:
    check_success(upload(speaker, name, picture or png()))
    found = [
        one for one in speaker.get("realm/emoji")["emoji"].values() if one["name"] == name and not one["deactivated"]
    ]
    [shown] = found
    record: Json = shown
    return record


@pytest.mark.holds("custom-emoji.upload")
def test_a_picture_becomes_an_emoji_and_is_served_to_anybody(member: Speaker, name: str, nobody: Speaker) -> None:
    emoji = made(member, name)
    assert emoji == {
        "id": emoji["id"],
        "name": name,
        "source_url": emoji["source_url"],
        "still_url": None,
        "deactivated": False,
        "author_id": member.id,
    }
    assert isinstance(emoji["id"], str)
    picture = nobody.http.get(str(nobody.http.base_url.join(emoji["source_url"])))
    assert (picture.status_code, picture.headers["content-type"]) == (200, "image/png")
    assert struct.unpack(">II", picture.content[16:24]) == (64, 64)
    missing = nobody.http.get(str(nobody.http.base_url.join(emoji["source_url"].replace("images/", "images/0"))))
    assert missing.status_code == 404


@pytest.mark.holds("custom-emoji.told")
def test_it_is_told_in_two_ways(member: Speaker, other: Speaker, name: str) -> None:
    single = {"notification_settings_null": True, "individual_emoji_changes": True}
    with (
        other.register(event_types=["realm_emoji"], client_capabilities=single) as new,
        other.register(event_types=["realm_emoji"]) as old,
    ):
        emoji = made(member, name)
        [event] = new.poll()
        assert (event["op"], event["emoji"]) == ("add", emoji)
        [event] = old.poll()
        assert (event["op"], event["realm_emoji"][emoji["id"]]) == ("update", emoji)
        member.delete(f"realm/emoji/{name}")
        [event] = new.poll()
        assert (event["op"], event["emoji_id"], event["data"]) == ("update_one", emoji["id"], {"deactivated": True})
        [event] = old.poll()
        assert event["realm_emoji"][emoji["id"]]["deactivated"] is True


@pytest.mark.holds("custom-emoji.use", "set-status.realm-code", "status.reaction-type")
def test_messages_reactions_and_statuses_use_it_by_name(member: Speaker, channel: Channel, name: str) -> None:
    emoji = made(member, name)
    message = member.send(channel.stream_id, "Emoji", f"Look :{name}:")
    assert emoji["source_url"] in member.message(message)["content"]
    member.post(f"messages/{message}/reactions", emoji_name=name)
    custom = {"emoji_name": name, "emoji_code": emoji["id"], "reaction_type": "realm_emoji"}
    assert member.message(message)["reactions"] == [{**custom, "user_id": member.id}]
    member.post("users/me/status", emoji_name=name)
    assert custom.items() <= member.get(f"users/{member.id}/status")["status"].items()
    member.post("users/me/status", emoji_name="")


@pytest.mark.holds("reactions.type-found", "reactions.types")
def test_a_reaction_goes_by_name_or_code_alone_whatever_its_type(member: Speaker, channel: Channel, name: str) -> None:
    emoji, message = made(member, name), member.send(channel.stream_id, "Emoji")
    path, custom = f"messages/{message}/reactions", {"emoji_name": name, "emoji_code": emoji["id"]}
    for said in ({"emoji_name": name}, {"emoji_code": emoji["id"]}, custom, custom | {"reaction_type": "realm_emoji"}):
        member.post(path, emoji_name=name)
        for other_type in ("unicode_emoji", "service_extra_emoji"):
            reply = member.request("DELETE", path, emoji_name=name, reaction_type=other_type)
            check_error(reply, "REACTION_DOES_NOT_EXIST")
        assert member.delete(path, **said) == {"result": "success", "msg": ""}
        assert member.message(message)["reactions"] == []
    check_error(member.request("DELETE", path, **custom), "REACTION_DOES_NOT_EXIST")


@pytest.mark.holds("custom-emoji.deactivate")
def test_out_of_use_it_stays_where_it_is_and_can_be_taken_back(
    member: Speaker, other: Speaker, channel: Channel, name: str
) -> None:
    emoji = made(member, name)
    message = member.send(channel.stream_id, "Emoji")
    custom = {"emoji_name": name, "emoji_code": emoji["id"], "reaction_type": "realm_emoji"}
    member.post(f"messages/{message}/reactions", **custom)
    member.delete(f"realm/emoji/{name}")
    check_error(member.request("DELETE", f"realm/emoji/{name}"))
    fresh = member.send(channel.stream_id, "Emoji")
    check_error(member.request("POST", f"messages/{fresh}/reactions", **custom))
    other.post(f"messages/{message}/reactions", **custom)
    member.delete(f"messages/{message}/reactions", emoji_name=name)
    other.delete(f"messages/{message}/reactions", **custom)
    again = made(member, name, png(10))
    assert again["id"] != emoji["id"]


@pytest.mark.holds("custom-emoji.deactivate")
def test_only_its_maker_and_administrators_take_it_out_of_use(
    owner: Speaker, member: Speaker, other: Speaker, name: str
) -> None:
    made(member, name)
    check_error(other.request("DELETE", f"realm/emoji/{name}"))
    owner.delete(f"realm/emoji/{name}")


@pytest.mark.holds("custom-emoji.names")
@pytest.mark.parametrize("bad", ["Upper", "ends_", "dash-", "dots.", "ümlaut", "x" * 101, "%20"])
def test_what_no_emoji_is_called(member: Speaker, bad: str) -> None:
    check_error(upload(member, bad, png()))


@pytest.mark.holds("custom-emoji.names")
def test_a_name_is_used_once_and_defaults_are_for_administrators(owner: Speaker, member: Speaker, name: str) -> None:
    made(member, name)
    check_error(upload(member, name, png()))
    check_error(upload(member, "smile", png()))
    check_success(upload(owner, "smile", png()))
    owner.delete("realm/emoji/smile")


@pytest.mark.holds("custom-emoji.refused")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"GIF89a",
        b"%PDF-1.4 ...",
    ],
    ids=lambda data: repr(data[:12]),
)
def test_what_is_no_picture_is_refused(member: Speaker, name: str, data: bytes) -> None:
    check_error(upload(member, name, data), "BAD_IMAGE")


@pytest.mark.holds("custom-emoji.refused")
def test_exactly_one_file_is_needed_and_not_a_large_one(member: Speaker, name: str) -> None:
    check_error(upload(member, name))
    check_error(upload(member, name, png(), png()))
    check_error(upload(member, name, png() + b"x" * (5 * 1024 * 1024)))


@pytest.mark.holds("custom-emoji.who")
def test_guests_and_programs_make_none(guest: Speaker, bot: Speaker, name: str) -> None:
    check_error(upload(guest, name, png()))
    check_error(upload(bot, name, png()))


@pytest.mark.holds("custom-emoji.published")
def test_the_names_of_all_others_are_published(member: Speaker, nobody: Speaker) -> None:
    state = member.post("register", event_types=[], fetch_event_types=["realm", "realm_emoji"])
    member.delete("events", queue_id=state["queue_id"])
    assert isinstance(state["realm_emoji"], dict)
    table = nobody.http.get(state["server_emoji_data_url"])
    assert (table.status_code, table.headers["content-type"]) == (200, "application/json")
    names = table.json()["code_to_names"]
    assert "smile" in names["1f604"]
    assert "+1" in names["1f44d"]
