"""Exports of Zulip become archives: ids and texts stay, each message comes or is in the report, and no secret is taken."""

import asyncio
import gzip
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tertulia.archives.converting import tars
from tertulia.archives.converting.accounts import Request
from tertulia.archives.converting.ranges import runs
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.streams import BROKEN, members
from tertulia.archives.converting.zulip.actions import convert
from tertulia.archives.converting.zulip.messages import history_of, read_of
from tertulia.archives.errors import ArchiveFailed
from tests.harness import zulip_export as zulip
from tests.harness.converted import Made, read_made
from tests.harness.zulip_export import ANA, BEA, CEM, CLOSED, GENERAL, GIL, OLD, SHUT, Export, organization


def made_of(file: Path, **options: Any) -> Made:
    target, folder = file.parent / "made.tar", file.parent / "temporary"
    folder.mkdir(exist_ok=True)
    for left in folder.iterdir():
        left.unlink()
    incidents = Incidents(folder)
    try:
        request = Request(file, "team", **options)
        outcome = asyncio.run(convert(request, target, folder, incidents, lambda *_: None))
    finally:
        incidents.close()
    return read_made(target, outcome, incidents)


def converted(export: Export, folder: Path, **options: Any) -> Made:
    return made_of(export.write(folder / "export.tar.gz"), **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return converted(organization(), tmp_path_factory.mktemp("zulip"), owner="ana@example.com")


MESSAGE_LOSSES = (
    "messages without an id, a time or a sender",
    "messages without a word",
    "messages of conversations that are not in the export",
    "messages that are in the export twice",
)


def test_each_message_comes_or_is_in_the_report(made: Made) -> None:
    lost = sum(made.lost.get(what, 0) for what in MESSAGE_LOSSES)
    assert made.outcome.read == len(organization().messages)
    assert made.outcome.imported + lost == made.outcome.read
    assert lost == 4


def test_ids_times_and_texts_are_what_they_were(made: Made) -> None:
    first = made.by("messages", "id")[1001]
    assert first["content"] == "hello **all** @**Bea|12**"
    assert first["sent"] == "2023-11-14T22:30:01.250000Z"
    assert first["client"] == "website"
    assert (first["sender_id"], first["conversation_id"]) == (ANA, GENERAL)
    assert made.by("messages", "id")[1002]["content"] == "second, see #**general>Plans@1001**"
    assert made.lines["organization"][0]["id"] == zulip.REALM
    assert made.by("files", "id")[71]["path"] == zulip.FILE
    assert made.find("nul ")["content"] == "nul  and half ? here"


def test_topics_are_the_same_but_for_case_and_may_be_empty(made: Made) -> None:
    topics = {line["name"]: line for line in made.lines["topics"] if line["channel_id"] == GENERAL}
    assert set(topics) == {"Plans", "files", "polls", ""}
    assert topics["Plans"]["participants"] == [zulip.SPEAKER, ANA, BEA, CEM, 99]


def test_what_a_message_was_before_comes_oldest_first(made: Made) -> None:
    drafts, renamed, moved = made.by("messages", "id")[1001]["changes"]
    assert (drafts["content"], drafts.get("user_id")) == ("first draft", None)
    assert (renamed["content"], renamed["topic"], renamed["new_topic"]) == ("second draft", "ideas", "plans")
    assert (moved["topic"], moved["new_topic"]) == ("plans", "Plans")
    assert (moved["channel_id"], moved["new_channel_id"]) == (OLD, GENERAL)


def test_direct_conversations_of_the_same_people_are_one_however_they_were_stored(made: Made) -> None:
    directs = {tuple(line["participants"]): line["id"] for line in made.lines["directs"]}
    assert set(directs) == {(ANA, BEA), (ANA, BEA, CEM)}
    said = [line["content"] for line in made.lines["messages"] if line["conversation_id"] == directs[ANA, BEA]]
    assert said == ["secret of two, first", "secret of two, second"]
    assert min(directs.values()) > max(made.by("channels", "id"))


def test_what_is_not_said_to_be_public_is_private_and_who_came_later_does_not_read_what_was_before(made: Made) -> None:
    channels = made.by("channels", "id")
    assert [channels[id]["is_private"] for id in (GENERAL, CLOSED, SHUT, OLD)] == [False, True, True, True]
    assert channels[OLD]["is_archived"]
    assert channels[OLD]["name"] == "GENERAL (2)"
    states = {(line["conversation_id"], line["user_id"]): line for line in made.lines["read_states"]}
    assert states[SHUT, ANA]["history"] == [[1, None]]
    assert states[SHUT, BEA]["history"] == [[2, None]]
    assert states[SHUT, BEA]["read"] == [[1, 2]]
    assert states[SHUT, CEM]["history"] == [[3, None]]


def test_unread_messages_and_stars_come_from_the_flags(made: Made) -> None:
    states = {(line["conversation_id"], line["user_id"]): line for line in made.lines["read_states"]}
    last = made.by("channels", "id")[GENERAL]["last_number"]
    assert states[GENERAL, BEA]["read"] == [[1, 3], [5, last + 1]]
    assert (GENERAL, ANA) not in states
    direct = next(line["id"] for line in made.lines["directs"] if line["participants"] == [ANA, BEA])
    assert states[direct, BEA]["read"] == [[2, 3]]
    marks = {(line["user_id"], line["message_id"], line["flag"]) for line in made.lines["marks"]}
    assert marks == {(ANA, 1002, "starred"), (BEA, 1001, "mentioned")}


def test_roles_above_a_member_are_proposals(made: Made, tmp_path: Path) -> None:
    people = made.by("people", "id")
    assert [people[id]["role"] for id in (ANA, BEA, CEM, GIL)] == [100, 400, 400, 600]
    assert made.outcome.proposed == {"moderator": ["bea@example.com"]}
    users = tmp_path / "people.csv"
    users.write_text(f"id,email,role\n{BEA},bea@new.example,moderator\n")
    again = converted(organization(), tmp_path, users=users, owner="bea@new.example").by("people", "id")
    assert (again[BEA]["email"], again[BEA]["role"], again[ANA]["role"]) == ("bea@new.example", 100, 400)
    for wrong in ("nobody@example.com", "gone@example.com", "helper-bot@host.example"):
        with pytest.raises(ArchiveFailed, match="Nobody in the export"):
            converted(organization(), tmp_path, owner=wrong)


def test_people_have_what_was_theirs(made: Made) -> None:
    people = made.by("people", "id")
    ana = people[ANA]
    assert ana["private"]["settings"] == {"twenty_four_hour_time": True}
    assert ana["private"]["alert_words"] == ["urgent"]
    assert [one["user_id"] for one in ana["private"]["muted"]] == [GIL]
    assert ana["status"]["text"] == "out"
    assert ana["profile"] == [{"field_id": 31, "value": "123"}]
    assert people[zulip.HELPER]["bot"]["owner_id"] == BEA
    assert people[zulip.SPEAKER]["bot"]["system"] == "notification"
    assert people[zulip.LATE].get("email") is None
    assert not people[99]["is_active"]
    choices = {(line["channel_id"], line["user_id"]): line for line in made.lines["subscriptions"]}[OLD, ANA]
    assert not choices["is_active"]
    assert choices["choices"]["color"] == "#c2c2c2"
    assert choices["choices"]["pin_to_top"]
    assert [line["policy"] for line in made.lines["topic_policies"]] == ["followed"]


def test_the_organization_has_what_it_had(made: Made) -> None:
    about = made.lines["organization"][0]
    assert about["name"] == "Acme"
    assert about["settings"] == {"invite_required": False, "message_content_edit_limit_seconds": 60}
    groups = made.by("groups", "id")
    assert groups[202]["members"] == [BEA]
    assert groups[204]["subgroups"] == [202]
    assert "subgroups" not in groups[202] or not groups[202]["subgroups"]
    assert groups[203].get("name") is None
    channel = made.by("channels", "id")[GENERAL]
    assert channel["permissions"] == {"can_send_message_group": 203}
    assert channel["is_default"]
    assert channel["folder_id"] == 5
    assert [line["id"] for line in made.lines["linkifiers"]] == [51]
    assert [line["id"] for line in made.lines["profile_fields"]] == [31]


def test_reactions_votes_files_and_pictures_come(made: Made) -> None:
    first = made.by("messages", "id")[1001]
    kinds = {(one["user_id"], one["emoji_code"], one["reaction_type"]) for one in first["reactions"]}
    assert len(first["reactions"]) == 3
    assert {(BEA, "1f44d", "unicode_emoji"), (ANA, "41", "realm_emoji")} < kinds
    assert made.lost["reactions that cannot be here"] == 1
    assert made.by("messages", "id")[1004]["submessages"][0]["sender_id"] == ANA
    assert made.by("messages", "id")[1003]["files"] == [71]
    assert made.blobs["file/71"] == b"the plan"
    assert made.blobs[f"avatar/{ANA}"].startswith(b"\x89PNG")
    assert set(made.blobs) == {"file/71", f"avatar/{ANA}", "emoji/41", "organization/icon"}


def test_no_secret_and_no_html_is_in_the_archive(made: Made) -> None:
    assert zulip.SECRET.encode() not in made.data


def test_the_same_export_makes_the_same_bytes(made: Made, tmp_path: Path) -> None:
    assert converted(organization(), tmp_path, owner="ana@example.com").data == made.data


def test_files_of_messages_may_come_in_any_order_and_overlap(made: Made, tmp_path: Path) -> None:
    export = organization().changed()
    whole = export.entries.pop("messages-000001.json")
    messages = whole["zerver_message"]
    export.entries["messages-000002.json"] = {"zerver_message": messages[:6]}
    export.entries["messages-000001.json"] = {**whole, "zerver_message": messages[4:]}
    again = converted(export, tmp_path, owner="ana@example.com")
    assert again.lost["messages that are in the export twice"] == 2
    numbers = {line["id"]: line["number"] for line in made.lines["messages"]}
    assert {line["id"]: line["number"] for line in again.lines["messages"]} == numbers


def test_files_of_organizations_that_were_imported_there_have_a_longer_address_here(tmp_path: Path) -> None:
    export, path = organization().changed(), "7/Sx3cretSx3cret/old.txt"
    export.entries["attachment.json"]["zerver_attachment"].append(
        {
            "id": 72,
            "file_name": "old.txt",
            "path_id": path,
            "owner": ANA,
            "create_time": zulip.BEGAN,
            "messages": [1010],
        }
    )
    export.entries[f"uploads/{path}"] = b"old"
    said = f"[a](/user_uploads/{path}) https://other.example/user_uploads/{path} /user_uploads/{zulip.FILE}"
    next(one for one in export.messages if one["id"] == 1010)["content"] = said
    made = converted(export, tmp_path)
    assert made.by("files", "id")[72]["path"] == "7/00/Sx3cretSx3cret/old.txt"
    assert made.blobs["file/72"] == b"old"
    assert made.by("messages", "id")[1010]["content"] == said.replace(
        f"(/user_uploads/{path}", "(/user_uploads/7/00" + path[1:]
    )


# What may be wrong


def broken(name: str, value: Any, *path: Any) -> Callable[[Export], None]:
    def change(export: Export) -> None:
        place: Any = export.entries[name]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


WRONG: dict[str, Callable[[Export], None]] = {
    "a row that is none": lambda export: export.tables["zerver_userprofile"].append(7),  # type: ignore[arg-type]
    "an id beyond all": broken("realm.json", 10**17, "zerver_userprofile", 4, "id"),
    "an id of a message beyond all": broken("messages-000001.json", 10**12, "zerver_message", 3, "id"),
    "a name of the wrong type": broken("realm.json", {"a": 1}, "zerver_stream", 0, "name"),
    "a role that is none": broken("realm.json", "owner", "zerver_userprofile", 0, "role"),
    "a time without end": broken("realm.json", float("inf"), "zerver_stream", 0, "date_created"),
    "a half character": broken("realm.json", "a\ud800b", "zerver_stream", 0, "name"),
    "a group in itself": lambda export: export.tables["zerver_groupgroupmembership"].append(
        {"supergroup": 202, "subgroup": 202}
    ),
    "the same channel twice": lambda export: export.tables["zerver_stream"].append(zulip.stream(GENERAL, "twice")),
    "the same person twice": lambda export: export.tables["zerver_userprofile"].append(zulip.person(ANA, "Twice")),
    "a history that is no JSON": broken("messages-000001.json", "[{", "zerver_message", 0, "edit_history"),
    "a history of anything": broken("messages-000001.json", "[1, {}, null]", "zerver_message", 0, "edit_history"),
    "a history too deep": broken("messages-000001.json", "[" * 100_000, "zerver_message", 0, "edit_history"),
    "flags that are none": broken("messages-000001.json", "1", "zerver_usermessage", 0, "flags_mask"),
    "flags beyond all": broken("messages-000001.json", 2**200, "zerver_usermessage", 0, "flags_mask"),
    "a file outside": broken("attachment.json", "7/ab/../../../etc/passwd", "zerver_attachment", 0, "path_id"),
    "a file of elsewhere": broken("attachment.json", "8/ab/Sx3cretSx3cret/x", "zerver_attachment", 0, "path_id"),
    "a path of a record outside": broken("uploads/records.json", "../realm.json", 0, "path"),
    "a table that is no list": broken("realm.json", {"a": [1]}, "zerver_reaction"),
    "no messages": lambda export: export.entries.pop("messages-000001.json"),
    "broken messages": lambda export: export.entries.update({"messages-000002.json": b'{"zerver_message": [{"id": 5'}),
    "messages that are no JSON": lambda export: export.entries.update({"messages-000002.json": b"\xff\xfe"}),
    "numbers without end": lambda export: export.entries.update({"messages-000002.json": b"[" + b"9" * 50_000 + b"]"}),
    "a time beyond all": broken("messages-000001.json", 10**400, "zerver_message", 0, "date_sent"),
    "JSON too deep": lambda export: export.entries.update({"messages-000002.json": b"[" * 100_000}),
    "records of anything": lambda export: export.entries.update({"avatars/records.json": [1, {"path": 7}]}),
    "a topic that is too long": broken("messages-000001.json", "x" * 200, "zerver_message", 0, "subject"),
    "a color that is none": broken("realm.json", "#12345\n", "zerver_subscription", 0, "color"),
    "an address that is none": broken("realm.json", "nobody", "zerver_userprofile", 3, "delivery_email"),
    "a status of nobody": broken("realm.json", 4711, "zerver_userstatus", 0, "user_profile"),
    "retention of no days": broken("realm.json", 0, "zerver_stream", 0, "message_retention_days"),
    "a private channel on the web": broken("realm.json", True, "zerver_stream", 1, "is_web_public"),
}


@pytest.mark.parametrize("what", WRONG)
def test_one_bad_record_is_counted_and_the_rest_comes(what: str, tmp_path: Path) -> None:
    export = organization().changed()
    WRONG[what](export)
    again = converted(export, tmp_path, owner="ana@example.com")
    assert again.by("people", "id")[ANA]["role"] == 100
    assert b"etc/passwd" not in again.data


def test_groups_without_an_id_are_counted_each(made: Made, tmp_path: Path) -> None:
    export = organization().changed()
    export.tables["zerver_namedusergroup"] += [{"id": 205, "name": "lost"}, {"usergroup_ptr": None, "name": "lost too"}]
    again = converted(export, tmp_path, owner="ana@example.com")
    what = "groups without an id, or that no organization has here"
    assert again.lost.get(what, 0) == made.lost.get(what, 0) + 2
    assert again.lines["groups"] == made.lines["groups"]


def link(name: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    about = tarfile.TarInfo(name)
    about.type, about.linkname = kind, "/etc/passwd"
    return about


def test_entries_that_lead_elsewhere_are_left_out(made: Made, tmp_path: Path) -> None:
    folder = organization().folder
    extra = [
        tarfile.TarInfo("../evil"),
        tarfile.TarInfo("/etc/evil"),
        link(f"{folder}/uploads/link"),
        link(f"{folder}/uploads/device", tarfile.CHRTYPE),
        link(f"{folder}/uploads/hard", tarfile.LNKTYPE),
    ]
    again = made_of(organization().write(tmp_path / "export.tar.gz", extra), owner="ana@example.com")
    assert again.lost["entries whose name or kind leads elsewhere"] == 5
    assert again.data == made.data


def test_what_is_no_export_is_refused_with_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    good = organization().write(tmp_path / "good.tar.gz").read_bytes()
    plain = gzip.decompress(good)
    header = tarfile.TarInfo("long")
    header.type, header.size = tarfile.GNUTYPE_LONGNAME, 2**30
    cases = {
        "no realm.json": Export({"readme": b"x"}).write(tmp_path / "x").read_bytes(),
        "no tar": b"hello",
        "not copied whole": good[: len(good) // 2],
        "not copied whole|ends in the middle": plain[: len(plain) // 2],
        "too long": header.tobuf() + bytes(1024),
        "no people": Export({"realm.json": {}}).write(tmp_path / "x").read_bytes(),
        "is empty or cannot be read": Export({"realm.json": b"{"}).write(tmp_path / "x").read_bytes(),
    }
    for sentence, data in cases.items():
        (tmp_path / "bad.tar.gz").write_bytes(data)
        with pytest.raises(ArchiveFailed, match=sentence):
            made_of(tmp_path / "bad.tar.gz")
    monkeypatch.setattr(tars, "BOMB_BYTES", 1000)
    (tmp_path / "bad.tar.gz").write_bytes(gzip.compress(bytes(10_000_000)))
    with pytest.raises(ArchiveFailed, match="times its size"):
        made_of(tmp_path / "bad.tar.gz")


def read(pieces: Iterator[bytes]) -> tuple[list[tuple[str, Any]], list[str]]:
    lost: list[str] = []
    return list(members(pieces, "x", lambda what, *_: lost.append(what))), lost


def test_json_is_read_piece_by_piece_wherever_pieces_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tertulia.archives.converting.streams.MOST_RECORD", 40)
    data = '{"a": [{"x": "ä]}"}, [1, [2]]], "b": "no list", "c": [], "d" : [{"y": 2}] }'.encode()
    for size in (1, 2, 3, 7, 50, 200):
        pieces = (data[at : at + size] for at in range(0, len(data), size))
        assert read(pieces) == ([("a", {"x": "ä]}"}), ("a", [1, [2]]), ("d", {"y": 2})], [])
    long = b'[{"x": "' + b"y" * 200 + b'"}]'
    assert read(iter([long[:90], long[90:]])) == ([], [BROKEN])


def test_ranges_of_numbers() -> None:
    assert list(runs([3, 1, 2, 7, 7])) == [(1, 3), (7, 7)]
    assert read_of([(2, 3)], 5) == [(1, 2), (4, 6)]
    assert read_of([(1, 5)], 5) == []
    assert history_of([(2, 3)], 5, is_active=True, is_idle=False) == [(2, 4), (6, None)]
    assert history_of([(2, 3)], 5, is_active=True, is_idle=True) == [(2, None)]
    assert history_of([], 5, is_active=True, is_idle=True) == [(6, None)]
    assert history_of([(2, 3)], 5, is_active=False, is_idle=True) == [(2, 4)]
