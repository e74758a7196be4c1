"""Exports of Slack become archives: each entry is a message or a line of the report, whatever is wrong with it."""

import asyncio
import json
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tertulia.archives.converting import zips
from tertulia.archives.converting.accounts import Request
from tertulia.archives.converting.fetching import Fetching
from tertulia.archives.converting.report import Incidents
from tertulia.archives.converting.slack.actions import convert
from tertulia.archives.errors import ArchiveFailed
from tertulia.kernel.outbound import Outbound
from tertulia.kernel.settings import Settings
from tests.harness import slack_export as slack
from tests.harness.converted import Json, Made, read_made
from tests.harness.picture_server import PictureServer, picture_server
from tests.harness.slack_export import Export, said, stamp, workspace


def made_of(file: Path, fetching: Fetching | None = None, **options: Any) -> Made:
    """Converted, and read to its end by whoever reads archives."""
    target = file.parent / "made.tar"
    folder = file.parent / "temporary"
    folder.mkdir(exist_ok=True)
    for left in folder.iterdir():
        left.unlink()
    incidents = Incidents(folder)
    try:
        request = Request(file, "team", **options)
        outcome = asyncio.run(convert(request, target, folder, incidents, lambda *_: None, fetching))
    finally:
        incidents.close()
    return read_made(target, outcome, incidents)


def converted(export: Export, folder: Path, **options: Any) -> Made:
    return made_of(export.write(folder / "export.zip"), **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return converted(workspace(), tmp_path_factory.mktemp("slack"), owner="ana@example.com")


ENTRY_LOSSES = (
    "joins and leaves",
    "changes of channels: topic, purpose, name, archiving",
    "notices of pins",
    "notices of apps",
    "entries that are no messages",
    "messages without a time",
    "traces of renamed people",
    "messages without a word",
    "messages that are in the export twice",
)


def test_each_entry_is_imported_or_in_the_report(made: Made) -> None:
    lost = sum(made.lost.get(what, 0) for what in ENTRY_LOSSES)
    assert made.outcome.read == len(workspace().messages())
    assert made.outcome.imported + lost == made.outcome.read
    notices = sum(line["sender_id"] == 1 and "began" not in line["content"] for line in made.lines["messages"])
    assert notices >= 4


def test_messages_follow_time_over_all_conversations(made: Made) -> None:
    ordered = sorted(made.lines["messages"], key=lambda line: line["id"])
    times = [datetime.fromisoformat(line["sent"]) for line in ordered]
    assert times == sorted(times)
    texts = [line["content"] for line in made.said_in("general")]
    assert texts[0].startswith("first: hello **all** @**|")
    assert texts[1] == "second"
    assert made.lines["messages"][0]["sent"] == "2023-11-14T22:13:20.000100Z"


def test_threads_are_topics_and_the_message_that_began_one_leads_there(made: Made) -> None:
    began, answer, shown = (made.find(words) for words in ("Shall **we**", "yes", "shown to all"))
    assert made.topic_of(began) == "imported from Slack"
    assert made.topic_of(answer) == made.topic_of(shown) == "Shall we ship it? Yes or no"
    assert "[2 replies: Shall we ship it? Yes or no](/#narrow/channel/" in began["content"]
    opening = min(
        (line for line in made.lines["messages"] if line["topic_id"] == answer["topic_id"]), key=lambda line: line["id"]
    )
    assert opening["sender_id"] == 1
    assert f"@_**|{began['sender_id']}**" in opening["content"]
    assert f"/near/{began['id']})" in opening["content"]
    assert "> Shall we ship it? Yes or no" in opening["content"]
    orphan = made.find("lost its root")
    assert made.topic_of(orphan).startswith("Thread of 2023-11-14")
    assert made.topic_of(made.find("below what was deleted")) == "This message was deleted."


def test_a_pin_comes_with_its_time_and_without_its_message_it_is_counted(made: Made) -> None:
    assert made.pins() == [("first:", "2023-11-14T22:13:20.000100Z", "2023-11-14T22:14:20Z")]
    assert (made.lost["pins of files"], made.lost["pins of messages that are not in the export"]) == (1, 1)


def test_people_bots_guests_and_those_who_left_are_what_they_were(made: Made) -> None:
    people = made.by("people", "full_name")
    assert people["Ana Admin"]["role"] == 100
    assert people["Bea Bold"]["role"] == 400, "what the export says of administrators is a proposal"
    assert made.outcome.proposed == {"administrator": ["bea@example.com"]}
    assert people["Gil Guest"]["role"] == 600
    assert not people["Gone"]["is_active"]
    assert people["Cem"]["email"] is None
    assert not people["Pat Partner"]["is_active"]
    assert people["never"]["is_imported_stub"]
    assert all(line["is_imported_stub"] for line in made.lines["people"] if line["bot"] is None)
    assert {name for name, line in people.items() if line["bot"]} == {"Notification Bot", "helper", "Slackbot", "CI"}
    assert "Ana Again" not in people
    assert made.outcome.merged == 1
    assert people["Ana Admin"]["status"]["text"] == "out"
    assert [value["value"] for value in people["Ana Admin"]["profile"]] == ["Captain", "123"]
    assert made.find("beep")["sender_id"] == made.find("as a user")["sender_id"] == people["helper"]["id"]
    assert made.find("nice file")["sender_id"] == people["Bea Bold"]["id"]


def test_rooms_are_as_private_as_they_were(made: Made) -> None:
    channels = made.by("channels", "name")
    privacy = {name: line["is_private"] for name, line in channels.items()}
    assert privacy == {"general": False, "zufällig": False, "GENERAL (2)": False, "closed": True, "unlisted": True}
    assert channels["zufällig"]["is_archived"]
    assert channels["general"]["is_default"]
    assert channels["general"]["description"] == "All & &#42;everything&#42; — now"
    ids = {made.person(name)["id"] for name in ("Ana Admin", "Bea Bold")}
    subscribed = {(line["channel_id"], line["user_id"]) for line in made.lines["subscriptions"]}
    assert {person for channel, person in subscribed if channel == channels["closed"]["id"]} == ids
    assert {person for channel, person in subscribed if channel == channels["unlisted"]["id"]} == {
        made.person("Bea Bold")["id"]
    }
    three = sorted([*ids, made.person("Cem")["id"]])
    assert sorted(line["participants"] for line in made.lines["directs"]) == sorted([three, sorted(ids), [three[2]]])


def test_rooms_of_the_same_people_are_one_conversation_in_order_of_time(made: Made) -> None:
    first = made.find("three, first")
    talk = [line for line in made.lines["messages"] if line["conversation_id"] == first["conversation_id"]]
    assert [(line["number"], line["content"]) for line in talk] == [
        (1, "three, first"), (2, "three, second"), (3, "three, third")
    ]  # fmt: skip


def test_reactions_are_once_for_each_person_and_emoji(made: Made) -> None:
    found = [(line["user_id"], line["emoji_code"]) for line in made.find("first: hello")["reactions"]]
    bea, cem, pat = (made.person(name)["id"] for name in ("Bea Bold", "Cem", "Pat Partner"))
    assert found == [(bea, "1f44d"), (cem, "1f44d"), (pat, "1f431")]
    assert made.lost["reactions with custom emoji, which are not in the export"] == 1
    assert made.changed["reactions that differ in skin tone only became one"] == 1


def test_files_of_the_zip_come_once_and_others_stay_links_without_their_credential(made: Made) -> None:
    files = made.by("files", "name")
    assert set(files) == {"plan.txt", "pic-ture.txt"}
    assert made.blobs[f"file/{files['plan.txt']['id']}"] == b"the plan"
    first, second = made.find("with a file"), made.find("the same file")
    assert f"[The plan](/user_uploads/{files['plan.txt']['path']})" in first["content"]
    assert first["files"] == [files["plan.txt"]["id"]]
    assert len(second["files"]) == 2
    assert made.find("far.pdf")["content"] == "[far.pdf](https://files.slack.com/f/far.pdf)"
    assert b"xoxe" not in made.data
    assert made.lost["files that Slack did not have any more"] == 1


def test_what_slack_once_wrote_for_who_shared_a_file_is_not_what_they_said(tmp_path: Path) -> None:
    file = {"id": "F0INSIDE", "name": "plan.txt", "title": "The plan", "user": slack.ANA}
    sentence = "<@U0ANA|ana> uploaded a file: <https://team.slack.com/files/ana/F0INSIDE/plan.txt|The plan>"
    texts = [f"{sentence} and commented: look *here*", sentence, "hers: " + sentence]
    days = [said(slack.ANA, text, stamp(900 + at), subtype="file_share", file=file) for at, text in enumerate(texts)]
    export = with_entries(**{"general/2023-12-01.json": days})
    made = converted(export, tmp_path)
    first, second, third = [line["content"] for line in made.said_in("general")][-3:]
    path = made.by("files", "name")["plan.txt"]["path"]
    assert first == f"look **here**\n\n[The plan](/user_uploads/{path})"
    assert second == f"[The plan](/user_uploads/{path})"
    assert third.startswith("hers: @**|")


def test_links_lead_to_the_message_here_and_long_texts_are_several(made: Made) -> None:
    aimed = made.find("first: hello")["id"]
    assert f"/topic/imported.20from.20Slack/near/{aimed})" in made.find("what Ana said")["content"]
    parts = [line for line in made.said_in("general") if line["content"].startswith("word word")]
    assert len(parts) > 2
    assert sum(line["content"].count("word") for line in parts) == 5000
    assert made.find("nul ")["content"] == "nul  and half  here"
    assert made.find("really")["content"] == "really &#42;rich&#42;"


def test_the_same_export_makes_the_same_bytes(made: Made, tmp_path: Path) -> None:
    assert converted(workspace(), tmp_path, owner="ana@example.com").data == made.data


def test_an_extra_folder_and_what_a_mac_adds_change_nothing_else(made: Made, tmp_path: Path) -> None:
    inside = {f"my export/{name}": content for name, content in workspace().entries.items()}
    mac = {"__MACOSX/my export/._channels.json": b"x", "my export/.DS_Store": b"x", "elsewhere.txt": b"x"}
    file = Export(inside | mac).write(tmp_path / "export.zip")
    again = made_of(file, owner="ana@example.com")
    assert again.lines["messages"] == made.lines["messages"]
    assert again.lost["entries outside of the export"] == 1


def with_entries(**more: Any) -> Export:
    return Export(workspace().entries | more)


def test_people_are_mapped_by_a_table(tmp_path: Path) -> None:
    table = tmp_path / "users.csv"
    table.write_text("id,email,role\nU0CEM,cem@example.com,moderator\nU0BEA,,administrator\nUSLACKBOT,,owner\n")
    template = tmp_path / "template.csv"
    made = converted(workspace(), tmp_path, users=table, owner="cem@example.com", users_template=template)
    assert made.person("Cem")["role"] == 100
    assert made.person("Cem")["email"] == "cem@example.com"
    assert made.person("Bea Bold")["role"] == 200
    assert made.person("Slackbot")["role"] == 400
    assert "U0ANA,Ana Admin,ana@example.com,owner" in template.read_text().splitlines()


def test_nobody_has_an_address_that_is_made_here_for_another_account(tmp_path: Path) -> None:
    export = workspace()
    for address in ("Notification-Bot@tertulia.invalid", "user3@import.invalid"):
        export.entries["users.json"].append(slack.user(f"U0X{len(address)}", "Mallory", profile={"email": address}))
    made = converted(export, tmp_path)
    assert [one.get("email") for one in made.lines["people"] if one["full_name"] == "Mallory"] == [None, None]
    assert made.changed["addresses that are none: left out"] == 2


def test_who_cannot_claim_their_account_gets_no_power(tmp_path: Path) -> None:
    table = tmp_path / "users.csv"
    table.write_text("id,role\nU0CEM,owner\n")
    assert converted(workspace(), tmp_path, users=table).person("Cem")["role"] == 400


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("id,role\nU1,king\n", "is no role"), ("id,email\nU1,x\n", "is no mail address"), ("name\nx\n", "column id")],
)
def test_a_table_that_is_wrong_is_refused_with_the_line(tmp_path: Path, text: str, sentence: str) -> None:
    table = tmp_path / "users.csv"
    table.write_text(text)
    with pytest.raises(ArchiveFailed, match=f"line 2.*{sentence}"):
        converted(workspace(), tmp_path, users=table)


@pytest.mark.parametrize("owner", ["nobody@example.com", "gone@example.com"])
def test_an_owner_who_is_not_there_or_left_is_refused(tmp_path: Path, owner: str) -> None:
    with pytest.raises(ArchiveFailed, match="Nobody in the export"):
        converted(workspace(), tmp_path, owner=owner)


CUT = "files of the export that are cut or broken: their beginnings were read"
DEEP = b"[" + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"]"
TROUBLE: list[tuple[str, dict[str, Any], str]] = [
    ("a path that leads up", {"../../evil.json": []}, "entries whose name or kind leads elsewhere"),
    ("an absolute path", {"/etc/passwd": b"x"}, "entries whose name or kind leads elsewhere"),
    ("a drive", {"C:/x/2023-11-14.json": []}, "entries whose name or kind leads elsewhere"),
    ("a backslash", {"general\\2023-11-14.json": []}, "entries whose name or kind leads elsewhere"),
    ("an unknown file", {"readme.txt": b"x"}, "entries that are not known"),
    ("a file that is no date", {"general/dms.json": []}, "entries that are not known"),
    ("a nested workspace", {"teams/other/channels.json": []}, "entries that are not known"),
    ("no JSON", {"general/2023-12-01.json": b"<html>"}, CUT),
    ("an object instead of a list", {"general/2023-12-01.json": b"{}"}, CUT),
    ("deep JSON", {"general/2023-12-01.json": DEEP}, CUT),
    ("records that are none", {"general/2023-12-01.json": [3, None, "x"]}, "records that cannot be read"),
    ("a channel without an id", {"groups.json": [{"name": "x"}]}, "channels without an id, or in the export twice"),
    ("somebody without an id", {"org_users.json": [{"name": "x"}]}, "people without an id"),
]  # fmt: skip


@pytest.mark.parametrize(("entries", "what"), [case[1:] for case in TROUBLE], ids=[case[0] for case in TROUBLE])
def test_one_bad_thing_is_counted_and_the_rest_comes(tmp_path: Path, entries: Json, what: str) -> None:
    made = converted(with_entries(**entries), tmp_path)
    assert made.lost[what] >= 1
    assert made.find("first: hello")


def test_what_comes_before_a_cut_is_read(tmp_path: Path) -> None:
    whole = json.dumps([said(slack.ANA, f"before {place}", stamp(900 + place)) for place in range(9)]).encode()
    made = converted(with_entries(**{"general/2023-12-01.json": whole[:-60]}), tmp_path)
    assert [made.find(f"before {place}")["number"] for place in range(8)]


def test_odd_values_everywhere_stop_nothing(tmp_path: Path) -> None:
    odd: list[Any] = [None, 3, -1.5, "x", [], {}, [None], {"a": None}, True, "9" * 400]
    fields = [
        "text",
        "blocks",
        "attachments",
        "files",
        "file",
        "reactions",
        "thread_ts",
        "user",
        "bot_id",
        "bot_profile",
        "username",
        "subtype",
        "room",
    ]
    entries = [
        {"type": "message", "user": slack.ANA, "text": "odd", "ts": stamp(2000 + place, number)} | {name: value}
        for place, name in enumerate(fields)
        for number, value in enumerate(odd)
    ]
    said_of_rooms = ("created", "members", "purpose", "pins", "creator", "name")
    rooms = [
        {"id": f"C0ODD{place}{name}", "name": f"odd{place}{name}", name: value}
        for place, value in enumerate(odd)
        for name in said_of_rooms
    ]
    users = [
        slack.user(f"U0ODD{place}", "Odd") | {name: value}
        for place, value in enumerate(odd)
        for name in ("profile", "tz", "name", "is_bot")
    ]
    export = workspace()
    export.entries["general/2023-12-01.json"] = entries
    export.entries["channels.json"] = [*export.entries["channels.json"], *rooms]
    export.entries["users.json"] = [*export.entries["users.json"], *users]
    made = converted(export, tmp_path)
    assert made.find("first: hello")


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x03\x04 cut"])
def test_what_is_no_zip_is_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "export.zip"
    file.write_bytes(content)
    with pytest.raises(ArchiveFailed, match="is no zip"):
        made_of(file)


def test_a_zip_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveFailed, match=r"no channels\.json"):
        converted(Export({"readme.txt": b"x"}), tmp_path)
    with pytest.raises(ArchiveFailed, match="no conversations"):
        converted(Export({"channels.json": []}), tmp_path)


def test_bombs_are_refused_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "BOMB_BYTES", 1000)
    with pytest.raises(ArchiveFailed, match="times its size"):
        converted(with_entries(**{"general/2023-12-01.json": b" " * 5_000_000}), tmp_path)
    monkeypatch.setattr(zips, "MOST_ENTRIES", 3)
    with pytest.raises(ArchiveFailed, match="entries"):
        converted(workspace(), tmp_path)


def test_a_day_that_is_too_large_is_left_out_and_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "MOST_JSON", 200_000)
    made = converted(with_entries(**{"general/2023-12-01.json": b"[" + b" " * 300_000 + b"]"}), tmp_path)
    assert made.lost["files of the export that cannot be read"] == 1


def test_a_zip_that_is_broken_inside_is_read_around_it(tmp_path: Path) -> None:
    file = with_entries(**{"general/2023-12-01.json": [said(slack.ANA, "broken " * 50, stamp(900))]}).write(
        tmp_path / "export.zip"
    )
    with zipfile.ZipFile(file) as packed:
        place = packed.getinfo("general/2023-12-01.json").header_offset + 60
    data = bytearray(file.read_bytes())
    data[place] ^= 0xFF
    file.write_bytes(data)
    assert made_of(file).lost["files of the export that cannot be read"] == 1


def shared(id: str, url: str, **more: Any) -> Json:
    return {"id": id, "name": f"{id}.txt", "mode": "hosted", "url_private": url, "mimetype": "text/plain", **more}


def fetching_from(server: PictureServer, folder: Path, networks: str = "127.0.0.0/8") -> Fetching:
    outbound = Outbound(Settings(), seconds=5, networks=networks)
    return Fetching(outbound, folder, server.url, "xoxp-secret", pause=0.0)


def test_files_are_fetched_once_from_the_one_host_and_a_login_page_is_no_file(tmp_path: Path) -> None:
    with picture_server() as server, picture_server() as elsewhere:
        good = server.show("/good?t=xoxe-credential", b"the file", "text/plain")
        files = [
            shared("F0GOOD", good, size=8),
            shared("F0LOGIN", server.show("/login", b"<html>", "text/html; charset=utf-8")),
            shared("F0SHORT", server.show("/short", b"cut", "text/plain"), size=9),
            shared("F0MOVED", server.redirect("/moved", elsewhere.show("/caught", b"x", "text/plain"))),
            shared("F0OTHER2", elsewhere.show("/other", b"x", "text/plain")),
            shared("F0LOCAL", "file:///etc/passwd"),
            shared("F0NONE", "http://[broken"),
            shared("F0/../UP", good),
        ]
        export = with_entries(**{"general/2023-12-01.json": [said(slack.ANA, "look", stamp(900), files=files)]})
        file = export.write(tmp_path / "export.zip")
        first = made_of(file, fetching_from(server, tmp_path / "files"))
        again = made_of(file, fetching_from(server, tmp_path / "files"))
        assert server.counted["/good?t=xoxe-credential"] == 1
        assert elsewhere.asked == []
        assert {one.headers.get("authorization") for one in server.asked} == {"Bearer xoxp-secret"}
    assert first.data == again.data
    names = {line["name"]: line["id"] for line in first.lines["files"]}
    assert set(names) == {"plan.txt", "pic-ture.txt", "F0GOOD.txt"}
    assert first.blobs[f"file/{names['F0GOOD.txt']}"] == b"the file"
    assert first.changed["files that could not be fetched"] == 7
    assert b"xoxe-" not in first.data
    assert b"xoxp-" not in first.data
    assert (tmp_path / "files").stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in (tmp_path / "files").iterdir()) == ["F0GOOD"]


def test_no_file_is_fetched_from_a_network_that_is_not_public(tmp_path: Path) -> None:
    with picture_server() as server:
        entry = said(slack.ANA, "look", stamp(900), files=[shared("F0NEAR", server.show("/near", b"x", "text/plain"))])
        file = with_entries(**{"general/2023-12-01.json": [entry]}).write(tmp_path / "export.zip")
        made = made_of(file, fetching_from(server, tmp_path / "files", networks=""))
        assert server.asked == []
    assert made.changed["files that could not be fetched"] == 2


def test_reactions_of_a_number_of_people_and_very_many_attachments_end_nothing(tmp_path: Path) -> None:
    export = workspace()
    parts = [{"text": f"part {number}."} for number in range(300)]
    odd = [{"name": "tada", "users": 7, "count": 7}]
    export.entries["general/2023-11-14.json"].append(
        said(slack.ANA, "odd words", stamp(9000), reactions=odd, attachments=parts)
    )
    made = converted(export, tmp_path)
    message = made.find("odd words")
    assert not message.get("reactions")
    assert "part 199." in message["content"]
    assert "part 200." not in message["content"]
    [what] = [what for what in made.changed if "files or attachments" in what]
    assert made.changed[what] == 1
