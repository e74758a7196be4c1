"""Dumps of Rocket.Chat become archives: each document is a message or a line of the report, whatever is wrong with it."""

import asyncio
import struct
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tertulia.archives.converting.accounts import Request
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.rocketchat import bson, dump
from tertulia.archives.converting.rocketchat.actions import convert
from tertulia.archives.errors import ArchiveFailed
from tests.harness.converted import Json, Made, read_made
from tests.harness.rocketchat_dump import CLOSED, NOISE, Dump, Time, at, encoded, messages, room, said, workspace


def made_of(path: Path, work: Path, files: Path | None = None, **options: Any) -> Made:
    """Converted, and read to its end by whoever reads archives."""
    target, folder = work / "made.tar", work / "temporary"
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.iterdir():
        left.unlink()
    incidents = Incidents(folder)
    try:
        request = Request(path, "team", **options)
        outcome = asyncio.run(convert(request, target, folder, incidents, lambda *_: None, files))
    finally:
        incidents.close()
    return read_made(target, outcome, incidents)


def converted(source: Dump, work: Path, **options: Any) -> Made:
    return made_of(source.write(work / "dump"), work, **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return converted(workspace(), tmp_path_factory.mktemp("rocketchat"), owner="ana@example.com")


DOCUMENT_LOSSES = (
    "joins and leaves",
    "changes of rooms: names, roles, rights",
    "notices of pins",
    "notices of discussions",
    "notices of calls and apps",
    "encrypted messages: nobody can read them without the key",
    "kinds of system messages that are not known",
    "messages that were deleted",
    "older texts of edited messages",
    "messages of live chats and calls with customers",
    "messages without an id, a room or a time",
    "messages whose id another one has",
    "messages without a word",
    "messages that are in the dump twice",
)


def test_each_document_is_imported_or_in_the_report(made: Made) -> None:
    assert made.outcome.read == len(messages())
    lost = {what: made.lost.get(what, 0) for what in DOCUMENT_LOSSES}
    assert made.outcome.imported + sum(lost.values()) == made.outcome.read
    assert all(lost.values()), lost
    assert sum(lost[what] for what in DOCUMENT_LOSSES[:7]) == len(NOISE)


def test_messages_follow_time_over_all_conversations(made: Made) -> None:
    ordered = sorted(made.lines["messages"], key=lambda line: line["id"])
    times = [datetime.fromisoformat(line["sent"]) for line in ordered]
    assert times == sorted(times)
    texts = [line["content"] for line in made.said_in("general")]
    assert texts[0].startswith("first: hello **all** @**|")
    assert texts[1:3] == ["second", "in the same millisecond"]


def test_threads_and_discussions_are_topics(made: Made) -> None:
    began, answer, shown = (made.find(words) for words in ("Shall **we**", "yes", "shown to all"))
    assert made.topic_of(began) == "imported from Rocket.Chat"
    assert made.topic_of(answer) == made.topic_of(shown) == "Shall we ship it?"
    assert "[2 replies: Shall we ship it?](/#narrow/channel/" in began["content"]
    assert made.topic_of(made.find("lost its root")).startswith("Thread of 2023-11-14")
    assert made.topic_of(made.find("below what was deleted")) == "This message was deleted."
    plan = made.find("in a thread about")
    assert made.topic_of(plan) == "About the *plan*"
    assert plan["conversation_id"] == began["conversation_id"]
    first = [line for line in made.lines["messages"] if line["topic_id"] == plan["topic_id"]]
    assert [line["content"] for line in first] == ["about the plan", "in a thread about the plan"]


def test_nobody_reads_what_they_could_not_read_there(made: Made) -> None:
    channels = made.by("channels", "name")
    privacy = {name: line["is_private"] for name, line in channels.items()}
    assert privacy == {
        "general": False, "General (2)": False, "Closed one": True, "team": True, "Not for all": True,
        "With a guest": True, "direct messages": True, "newkind": True, "room DELETED": True,
    }  # fmt: skip
    ids = {name: made.person(name)["id"] for name in ("Ana Admin", "Bea Bold", "Cem", "Gil Guest")}
    subscribed: dict[int, set[int]] = {}
    for line in made.lines["subscriptions"]:
        subscribed.setdefault(line["channel_id"], set()).add(line["user_id"])
    who = {name: subscribed.get(line["id"], set()) for name, line in channels.items()}
    assert who["Closed one"] == {ids["Ana Admin"], ids["Bea Bold"]}
    assert who["Not for all"] == {ids["Ana Admin"]}
    assert who["With a guest"] == {ids["Ana Admin"], ids["Gil Guest"]}
    assert who["direct messages"] == {ids["Cem"]}
    assert who["room DELETED"] == {ids["Bea Bold"]}
    assert made.find("said aside")["conversation_id"] == channels["Closed one"]["id"]
    assert channels["General (2)"]["is_archived"]
    assert channels["general"]["is_default"]
    assert channels["general"]["description"] == "All &#42;everything&#42; — now"


def test_rooms_of_the_same_people_are_one_conversation_in_order_of_time(made: Made) -> None:
    first = made.find("secret of two")
    talk = [line for line in made.lines["messages"] if line["conversation_id"] == first["conversation_id"]]
    assert [line["content"] for line in talk] == ["secret of two", "answer of two", "from the twin", "discussed by two"]
    participants = {line["id"]: line["participants"] for line in made.lines["directs"]}
    assert len(participants) == 3
    assert participants[made.find("note to self")["conversation_id"]] == [made.person("Cem")["id"]]


def test_people_are_what_they_were_and_power_is_proposed(made: Made, tmp_path: Path) -> None:
    people = made.by("people", "full_name")
    assert people["Ana Admin"]["role"] == 100
    assert people["Gil Guest"]["role"] == 600
    assert not people["Gone"]["is_active"]
    assert not people["uErased"]["is_active"]
    assert people["No Address"]["email"] is None
    assert "Ana Again" not in people
    assert made.outcome.merged == 1
    assert {name for name, line in people.items() if line["bot"]} == {
        "Notification Bot", "Rocket.Cat", "CI", "Unknown sender",
    }  # fmt: skip
    assert people["Ana Admin"]["status"]["text"] == "at the sea"
    assert made.changed["addresses that nobody confirmed there"] == 1
    other = converted(workspace(), tmp_path, owner="bea@example.com")
    assert other.outcome.proposed == {"administrator": ["ana@example.com"]}
    assert other.person("Ana Admin")["role"] == 400


def test_mentions_links_and_quotes_lead_to_what_they_meant(made: Made) -> None:
    first, ana, bea = made.find("first: hello **"), made.person("Ana Admin")["id"], made.person("Bea Bold")["id"]
    assert first["content"] == f"first: hello **all** @**|{bea}** and @nobody :tada: :party_cat:"
    quote = made.find("I agree")["content"]
    assert quote.startswith("> ana [wrote](/#narrow/channel/")
    assert f"/near/{first['id']}):\n>\n> first: hello\n\nI agree @**|{ana}**" in quote
    told = made.find("what Ana said")["content"]
    assert f"/near/{first['id']})" in told
    assert told.endswith("in #closed and #unknown"), "what a private channel is called is not told"
    assert made.find(" come")["content"] == "@**all** @here come"


def test_reactions_stars_and_what_was_read_come_along(made: Made) -> None:
    first, bea, cem = made.find("first: hello **"), made.person("Bea Bold")["id"], made.person("Cem")["id"]
    emoji = made.by("emoji", "name")
    assert set(emoji) == {"party_cat", "lost_one"}
    assert made.blobs[f"emoji/{emoji['party_cat']['id']}"].startswith(b"\x89PNG")
    found = {(line["user_id"], line["reaction_type"], line["emoji_name"]) for line in first["reactions"]}
    assert (bea, "realm_emoji", "party_cat") in found
    assert {(bea, "unicode_emoji", "+1"), (cem, "unicode_emoji", "+1")} <= found
    assert made.lost["reactions of names that nobody has any more"] == 1
    assert made.lost["reactions with emoji that are not known"] == 2, "a tone of skin is no other emoji"
    assert made.lines["marks"] == [{"user_id": bea, "message_id": first["id"], "flag": "starred"}]
    read = {(line["conversation_id"], line["user_id"]): line["read"] for line in made.lines["read_states"]}
    seen, *later = read[first["conversation_id"], bea]
    assert seen == [1, 4], "she had seen three messages"
    own = [
        one["number"]
        for one in made.lines["messages"]
        if (one["conversation_id"], one["sender_id"]) == (first["conversation_id"], bea)
    ]
    assert [number for start, end in later for number in range(start, end)] == [number for number in own if number > 3]
    last = made.by("channels", "name")["general"]["last_number"]
    assert read[first["conversation_id"], cem] == [[1, last + 1]]
    assert f"avatar/{bea}" in made.blobs


def test_files_come_from_the_dump_or_the_folder_and_others_stay_names(made: Made, tmp_path: Path) -> None:
    files = made.by("files", "name")
    assert set(files) == {"plan.txt", "empty.txt"}
    assert made.blobs[f"file/{files['plan.txt']['id']}"] == b"the plan"
    assert made.blobs[f"file/{files['empty.txt']['id']}"] == b""
    caption = made.find("with a **caption**")
    assert caption["content"] == f"with a **caption**\n\n[plan.txt](/user_uploads/{files['plan.txt']['path']})"
    assert made.find("far away")["content"] == "far away\n\n*far&#46;pdf*"
    assert made.lost["files whose bytes are not in the dump: their names stay"] == 2
    beside = tmp_path / "files"
    beside.mkdir()
    (beside / "fDisk.txt").write_bytes(b"on disk")
    (beside / "fAway").symlink_to("/etc/passwd")
    again = converted(workspace(), tmp_path, files=beside)
    disk = again.by("files", "name")["disk.txt"]
    assert again.blobs[f"file/{disk['id']}"] == b"on disk"
    assert "far.pdf" not in again.by("files", "name"), "links lead anywhere"


def test_a_file_of_a_room_comes_with_messages_of_that_room_only(tmp_path: Path) -> None:
    shared: dict[str, Any] = {"attachments": [{"title": "x", "title_link": "/file-upload/fHush/x", "type": "file"}]}
    source = workspace().with_documents(
        rocketchat_uploads=[{"_id": "fHush", "name": "hush.txt", "size": 4, "userId": "uAna", "rid": CLOSED}],
        **{"rocketchat_uploads.chunks": [{"files_id": "fHush", "n": 0, "data": b"hush"}]},
        rocketchat_message=[
            said("theirs", "uCem", "look at this", 900, **shared),
            said("ours", "uAna", "ours", 901, CLOSED, **shared),
        ],
    )
    made = made_of(source.write(tmp_path / "dump"), tmp_path)
    file = made.by("files", "name")["hush.txt"]
    assert made.find("look at this")["content"] == "look at this\n\n*x*"
    assert made.find("look at this")["files"] == []
    assert made.find("ours")["files"] == [file["id"]]


def test_no_secret_of_the_dump_comes_along(made: Made) -> None:
    for secret in (b"bcrypt", b"hash-of-a-password", b"token-x", b"hunter2", b"an older text"):
        assert secret not in made.data


def test_folders_and_archives_compressed_or_not_are_the_same(made: Made, tmp_path: Path) -> None:
    packed = made_of(workspace().write(tmp_path / "dump", packed=True), tmp_path, owner="ana@example.com")
    assert packed.data == made.data
    for is_packed in (False, True):
        file = workspace().write_archive(tmp_path / "dump.archive", packed=is_packed)
        one = made_of(file, tmp_path, owner="ana@example.com", name="dump")
        assert one.lines["messages"] == made.lines["messages"]
        assert one.data == made.data


def test_people_are_mapped_by_a_table(tmp_path: Path) -> None:
    table, template = tmp_path / "users.csv", tmp_path / "template.csv"
    table.write_text("id,email,role\nuNone,none@example.com,moderator\nuGil,,administrator\nrocket.cat,,owner\n")
    made = converted(workspace(), tmp_path, users=table, owner="none@example.com", users_template=template)
    assert made.person("No Address")["role"] == 100
    assert made.person("Gil Guest")["role"] == 200
    assert made.person("Rocket.Cat")["role"] == 400
    assert "uAna,Ana Admin,ana@example.com,administrator" in template.read_text().splitlines()
    with pytest.raises(ArchiveFailed, match="Nobody in the export"):
        converted(workspace(), tmp_path, owner="gone@example.com")


# What is wrong with it


def deep(levels: int) -> Json:
    found: Json = {"x": 1}
    for _ in range(levels):
        found = {"x": found}
    return found


@pytest.mark.parametrize(
    ("broken", "what"),
    [
        (
            struct.pack("<i", 30) + b"\x02msg\0" + struct.pack("<i", 999) + b"x" * 16 + b"\0",
            "documents that cannot be read",
        ),
        (struct.pack("<i", 12) + b"\x99odd\0ab\0", "documents that cannot be read"),
        (encoded({"_id": "deep", "attachments": [deep(100)]}), "documents that cannot be read"),
        (struct.pack("<i", 2**30), dump.BROKEN),
        (struct.pack("<i", -1), dump.BROKEN),
        (b"\x05\0", dump.BROKEN),
        (struct.pack("<i", 100) + b"cut", dump.BROKEN),
    ],
)
def test_one_bad_document_is_counted_and_the_rest_comes(tmp_path: Path, broken: bytes, what: str) -> None:
    source = workspace()
    source.collections["rocketchat_message"] = b"".join(map(encoded, messages())) + broken
    made = converted(source, tmp_path)
    assert made.lost[what] == 1
    assert made.outcome.read == len(messages())


def test_what_follows_a_broken_document_is_read(tmp_path: Path) -> None:
    source = workspace()
    broken = struct.pack("<i", 12) + b"\x99odd\0ab\0"
    source.collections["rocketchat_message"] = broken + b"".join(map(encoded, messages()))
    assert converted(source, tmp_path).outcome.read == len(messages())


def test_an_archive_that_was_not_copied_whole_says_so(tmp_path: Path) -> None:
    file = workspace().write_archive(tmp_path / "dump.archive")
    file.write_bytes(file.read_bytes()[:-2000])
    assert made_of(file, tmp_path).lost[dump.BROKEN] > 1


def test_odd_values_everywhere_stop_nothing(tmp_path: Path) -> None:
    odd: list[Any] = [None, 3, -1.5, float("nan"), 2**60, "x", "", [], {}, [None], {"a": None}, True, "9" * 400, b"x"]
    odd += [Time(-5), Time(2**62), [{"_id": 3, "username": []}], {"_id": {}}, {":x:": {"usernames": [3]}}]
    fields = [
        "_id",
        "rid",
        "msg",
        "ts",
        "u",
        "t",
        "tmid",
        "tcount",
        "reactions",
        "mentions",
        "channels",
        "file",
        "files",
    ]
    fields += ["attachments", "starred", "alias", "bot", "_hidden"]
    entries = [
        said(f"odd{place}-{number}", "uAna", "odd", 3000 + place) | {name: value}
        for place, name in enumerate(fields)
        for number, value in enumerate(odd)
    ]
    rooms = [
        room(f"R{place}{name}", kind) | {name: value}
        for place, value in enumerate(odd)
        for name in ("_id", "t", "name", "fname", "ts", "u", "uids", "usernames", "prid", "topic")
        for kind in "cd"
    ]
    people = [
        {"_id": f"o{place}{name}", "username": f"o{place}", "type": "user"} | {name: value}
        for place, value in enumerate(odd)
        for name in ("_id", "username", "name", "emails", "roles", "type", "createdAt", "statusText", "__rooms")
    ]
    more: dict[str, list[Json]] = {
        "rocketchat_message": entries,
        "rocketchat_room": rooms,
        "users": people,
        "rocketchat_subscription": [{"rid": value, "u": value, "ls": value} for value in odd],
        "rocketchat_uploads": [{"_id": value, "size": value, "name": value, "userId": value} for value in odd],
        "rocketchat_uploads.chunks": [{"files_id": value, "n": value, "data": value} for value in odd],
        "rocketchat_custom_emoji": [{"name": value, "aliases": value, "extension": value} for value in odd],
        "rocketchat_avatars": [{"_id": value, "userId": value} for value in odd],
    }
    made = converted(workspace().with_documents(**more), tmp_path)
    assert made.find("first: hello **")
    assert made.outcome.read == len(messages()) + len(entries)


def test_what_is_no_dump_is_refused_with_a_sentence(tmp_path: Path) -> None:
    for path, sentence in ((tmp_path / "never", "neither a folder nor a file"), (tmp_path, "no rocketchat_room")):
        with pytest.raises(ArchiveFailed, match=sentence):
            made_of(path, tmp_path)
    file = tmp_path / "other"
    for content in (b"", b"PK\x03\x04", b"\x1f\x8b broken"):
        file.write_bytes(content)
        with pytest.raises(ArchiveFailed, match=r"no archive of mongodump"):
            made_of(file, tmp_path)


def test_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump, "BOMB_BYTES", 1000)
    source = workspace().with_documents(rocketchat_message=[said("bomb", "uAna", "x" * 3_000_000, 900)])
    with pytest.raises(ArchiveFailed, match="times its size"):
        made_of(source.write(tmp_path / "dump", packed=True), tmp_path)
    with pytest.raises(ArchiveFailed, match="times its size"):
        made_of(source.write_archive(tmp_path / "dump.archive", packed=True), tmp_path)


def test_fields_that_nobody_asked_for_are_passed_over() -> None:
    document = encoded({"a": 1, "services": deep(100), "b": [True, None, at(1)], "c": 2.5})
    assert bson.parse(document, frozenset("abc")) == {"a": 1, "b": [True, None, int(at(1))], "c": 2.5}
    with pytest.raises(bson.Broken):
        bson.parse(document)


def test_pins_come_with_their_times(made: Made) -> None:
    pins = {words: (sent, pinned) for words, sent, pinned in made.pins()}
    assert set(pins) == {"first:", "second"}
    sent, pinned = map(datetime.fromisoformat, pins["first:"])
    assert (pinned - sent).total_seconds() == 70
    assert pins["second"][0] == pins["second"][1], "whoever does not say when: when it was sent"
