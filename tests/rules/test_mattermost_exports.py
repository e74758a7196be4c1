"""Bulk exports of Mattermost become archives: each post is a message or a line of the report, whatever is wrong with it."""

import asyncio
import json
import random
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tertulia.archives.converting import zips
from tertulia.archives.converting.accounts import Request
from tertulia.archives.converting.mattermost import reading
from tertulia.archives.converting.mattermost.actions import convert
from tertulia.archives.converting.report import Incidents
from tertulia.archives.errors import ArchiveFailed
from tertulia.files.uploads.names import url_of
from tests.harness import mattermost_export as mattermost
from tests.harness.converted import Made, read_made
from tests.harness.mattermost_export import OTHER, Export, channel, direct, line, member, post, said, user, world


def made_of(file: Path, teams: tuple[str, ...] = (), **options: Any) -> Made:
    """Converted, and read to its end by whoever reads archives."""
    target = file.parent / "made.tar"
    folder = file.parent / "temporary"
    folder.mkdir(exist_ok=True)
    for left in folder.iterdir():
        left.unlink()
    incidents = Incidents(folder)
    try:
        request = Request(file, "team", **options)
        outcome = asyncio.run(convert(request, target, folder, incidents, lambda *_: None, teams))
    finally:
        incidents.close()
    return read_made(target, outcome, incidents)


def converted(export: Export, folder: Path, teams: tuple[str, ...] = (), **options: Any) -> Made:
    return made_of(export.write(folder / "export.zip"), teams, **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return converted(world(), tmp_path_factory.mktemp("mattermost"), owner="ana@example.com")


POST_LOSSES = (
    "joins and leaves",
    "changes of channels: name, header, purpose, archiving",
    "notices of the system",
    "posts of other teams, or of no channel",
    "direct posts to nobody, or of other teams",
    "posts without a time",
    "posts without a word",
    "posts that were deleted",
)


def test_each_post_is_imported_or_in_the_report(made: Made) -> None:
    assert made.outcome.read == len(world().posts())
    assert all(made.lost[what] for what in POST_LOSSES)
    assert made.lost["lines of an unknown kind"] == 1
    assert made.outcome.imported + sum(made.lost[what] for what in POST_LOSSES) == made.outcome.read


def test_messages_follow_time_over_all_conversations(made: Made) -> None:
    ordered = sorted(made.lines["messages"], key=lambda one: one["id"])
    times = [datetime.fromisoformat(one["sent"]) for one in ordered]
    assert times == sorted(times)
    texts = [one["content"] for one in made.said_in("Town Square")]
    assert texts[0].startswith("first: hello **all** @**|")
    assert texts[1] == "second"
    assert made.find("first: hello")["sent"] == "2023-11-14T22:13:20Z"


def test_names_in_texts_lead_to_whom_and_what_they_name(made: Made) -> None:
    bea = made.person("Bea Bold")["id"]
    assert (
        made.find("first: hello")["content"]
        == f"first: hello **all** @**|{bea}**. #**Town Square** ~closed :acme_bird:"
    )
    assert "[&num;Closed &ast;Room&ast;](/#narrow/channel/" in made.said_in("Closed *Room*")[0]["content"]
    assert made.find("as herself")["content"] == "as herself @**all**"


def test_threads_are_topics_and_the_message_that_began_one_leads_there(made: Made) -> None:
    began, yes = made.find("Shall **we**"), made.find("yes")
    assert made.topic_of(began) == "imported from Mattermost"
    assert made.topic_of(yes) == "Shall we ship it? Yes or no"
    assert "[2 replies: Shall we ship it? Yes or no](/#narrow/channel/" in began["content"]
    opening = min(
        (one for one in made.lines["messages"] if one["topic_id"] == yes["topic_id"]), key=lambda one: one["id"]
    )
    assert opening["sender_id"] == 1
    assert f"/near/{began['id']})" in opening["content"]


def test_threads_that_began_in_the_same_millisecond_stay_apart(made: Made) -> None:
    assert made.topic_of(made.find("to one")) == "twin one"
    assert made.topic_of(made.find("to two")) == "twin two"
    assert "1 reply: twin two" in made.find("twin two\n")["content"]
    assert "1 reply: twin one" in made.find("twin one\n")["content"]


def test_a_notice_that_has_replies_is_said_by_the_notification_bot(made: Made) -> None:
    notice = made.find("bea joined the team.\n\n[1 reply")
    assert notice["sender_id"] == 1
    assert made.topic_of(made.find("below a notice")) == "bea joined the team."


def test_people_bots_guests_and_those_who_left_are_what_they_were(made: Made) -> None:
    people = made.by("people", "full_name")
    assert people["Ana Admin"]["role"] == 100
    assert people["Bea Bold"]["role"] == 400, "what the export says of administrators is a proposal"
    assert made.outcome.proposed == {"administrator": ["bea@example.com"]}
    assert people["Gil Guest"]["role"] == 600
    assert people["Tess Less"]["role"] == 600, "who is in no team reads no channel of one"
    assert not people["Gone"]["is_active"]
    assert not people["erased"]["is_active"]
    assert people["cem_"]["email"] is None
    assert {name for name, one in people.items() if one["bot"]} == {"Notification Bot", "The Helper", "calls", "CI"}
    assert people["The Helper"]["bot"]["owner_id"] == people["Bea Bold"]["id"]
    assert not people["calls"]["is_active"]
    assert "Ana Again" not in people
    assert made.outcome.merged == 1
    assert people["Ana Admin"]["status"]["text"] == "out"
    assert [value["value"] for value in people["Ana Admin"]["profile"]] == ["Captain", "Annie"]
    assert made.blobs[f"avatar/{people['Ana Admin']['id']}"] == world().files["data/profile_pictures/ana.png"]
    assert made.find("beep")["sender_id"] == people["The Helper"]["id"]
    assert b"secret-" not in made.data


def test_rooms_are_as_private_as_they_were(made: Made) -> None:
    channels = made.by("channels", "name")
    privacy = {name: one["is_private"] for name, one in channels.items()}
    assert privacy == {
        "Town Square": False, "Closed *Room*": True, "Old": False, "TOWN SQUARE (2)": True, "unlisted": True
    }  # fmt: skip
    assert channels["Old"]["is_archived"]
    assert channels["Town Square"]["is_default"]
    assert channels["TOWN SQUARE (2)"]["description"] == "All & &#42;everything&#42; — now"
    ids = {made.person(name)["id"] for name in ("Ana Admin", "Bea Bold")}
    subscribed = {(one["channel_id"], one["user_id"]) for one in made.lines["subscriptions"]}
    assert {person for room, person in subscribed if room == channels["Closed *Room*"]["id"]} == ids
    assert {person for room, person in subscribed if room == channels["unlisted"]["id"]} == {
        made.person("Bea Bold")["id"]
    }
    cem = made.person("cem_")["id"]
    assert sorted(one["participants"] for one in made.lines["directs"]) == sorted(
        [sorted(ids), [cem], sorted([*ids, cem])]
    )


def test_direct_posts_of_the_same_people_are_one_conversation_with_replies_in_order_of_time(made: Made) -> None:
    first = made.find("secret of two")
    talk = [one["content"] for one in made.lines["messages"] if one["conversation_id"] == first["conversation_id"]]
    assert talk == ["secret of two", "answer of two", "more of two"]


def test_reactions_are_once_for_each_person_and_emoji_with_their_times(made: Made) -> None:
    found = made.find("first: hello")["reactions"]
    bea, cem = made.person("Bea Bold")["id"], made.person("cem_")["id"]
    bird = str(made.by("emoji", "name")["acme_bird"]["id"])
    assert [(one["user_id"], one["emoji_code"], one["reaction_type"]) for one in found] == [
        (bea, "1f44d", "unicode_emoji"), (cem, "1f44d", "unicode_emoji"), (bea, bird, "realm_emoji")
    ]  # fmt: skip
    assert found[1]["at"] == "2023-11-14T22:13:20.007000Z"
    assert made.lost["reactions of nobody, or with emoji that are not known"] == 1


def test_custom_emoji_come_with_pictures_under_names_that_are_free_here(made: Made) -> None:
    emoji = made.by("emoji", "name")
    assert set(emoji) == {"acme_bird", "tick", "tada_2"}
    assert made.blobs[f"emoji/{emoji['acme_bird']['id']}"] == world().files["exported_emoji/e1/image.png"]
    assert f"emoji/{emoji['tada_2']['id']}" in made.blobs
    assert made.lost["pictures of custom emoji that are not in the export"] == 1


def test_files_come_and_what_is_missing_is_said_where_it_was(made: Made) -> None:
    [file] = made.lines["files"]
    assert made.blobs[f"file/{file['id']}"] == b"the plan"
    message = made.find("with a file")
    assert f"[the plan ü.txt]({url_of(file['path'])})" in message["content"]
    assert message["files"] == [file["id"]]
    assert "txt: this file was not in the export.*" in message["content"]
    assert made.lost["files that are not in the export"] == 2


def read_of(made: Made, name: str, conversation: int) -> list[list[int]] | None:
    person = made.person(name)["id"]
    found = [
        one for one in made.lines["read_states"] if (one["conversation_id"], one["user_id"]) == (conversation, person)
    ]
    return found[0]["read"] if found else None


def test_what_was_read_is_read_and_what_was_not_is_not(made: Made) -> None:
    town = made.by("channels", "name")["Town Square"]["id"]
    said_there = made.said_in("Town Square")
    bea = made.person("Bea Bold")["id"]
    read = read_of(made, "Bea Bold", town)
    assert read is not None
    assert read[0] == [1, 3], "two were sent before she looked last"
    numbers = {number for first, after in read for number in range(first, after)}
    assert {one["number"] for one in said_there if one["sender_id"] == bea} <= numbers
    assert not {one["number"] for one in said_there[2:] if one["sender_id"] != bea} & numbers
    assert read_of(made, "Ana Admin", town) == [[1, len(said_there) + 1]]
    assert read_of(made, "cem_", town) is None, "the export does not say: all is read"
    two = made.find("secret of two")["conversation_id"]
    assert read_of(made, "Ana Admin", two) == [[1, 2]]
    assert read_of(made, "Bea Bold", two) == [[2, 4]], "what she wrote herself"


def test_stars_mutes_and_favourites_come(made: Made) -> None:
    ids = {name: made.person(name)["id"] for name in ("Ana Admin", "Bea Bold", "Gil Guest")}
    first, more = made.find("first: hello")["id"], made.find("more of two")["id"]
    assert {(one["user_id"], one["message_id"], one["flag"]) for one in made.lines["marks"]} == {
        (ids["Bea Bold"], first, "starred"), (ids["Gil Guest"], first, "starred"), (ids["Ana Admin"], more, "starred")
    }  # fmt: skip
    chosen = {one["user_id"]: one["choices"] for one in made.lines["subscriptions"] if one["choices"]}
    assert chosen[ids["Ana Admin"]]["pin_to_top"]
    assert chosen[ids["Bea Bold"]]["is_muted"]
    assert set(chosen) == {ids["Ana Admin"], ids["Bea Bold"]}


def test_what_integrations_lay_out_comes_in_words(made: Made) -> None:
    message = made.find("Build 7")
    assert message["sender_id"] == made.person("CI")["id"]
    assert message["content"] == (
        "Build\n> [Build 7](https://ci.example/7)\n>\n> **passed**\n>\n> **Took:** 7\n>\n> https://ci.example/7.png\n>\n> f"
    )
    assert made.find("waves")["content"] == "/me waves"
    parts = [one for one in made.said_in("Town Square") if one["content"].startswith("word word")]
    assert len(parts) > 2
    assert sum(one["content"].count("word") for one in parts) == 4000


def test_the_same_export_makes_the_same_bytes(made: Made, tmp_path: Path) -> None:
    assert converted(world(), tmp_path, owner="ana@example.com").data == made.data


@pytest.mark.parametrize("name", ["export.json", "folder/mattermost_import.jsonl"])
def test_programs_call_the_lines_as_they_like(made: Made, tmp_path: Path, name: str) -> None:
    root = name.rpartition("/")[0]
    files = {f"{root}/{path}".strip("/"): content for path, content in world().files.items()}
    again = made_of(Export(world().lines, files).write(tmp_path / "e.zip", name), owner="ana@example.com")
    assert [one["content"] for one in again.said_in("Closed *Room*")] == [
        one["content"] for one in made.said_in("Closed *Room*")
    ]
    assert again.blobs.keys() == made.blobs.keys()


def test_the_lines_alone_come_without_files(made: Made, tmp_path: Path) -> None:
    file = tmp_path / "import.jsonl"
    file.write_bytes(reading.BOM + world().text() + b"\n\n")
    alone = made_of(file, owner="ana@example.com")
    assert alone.outcome.imported == made.outcome.imported
    assert alone.lost["files that are not in the export"] == 3
    assert alone.blobs == {}


# Teams


def two_teams(**other: Any) -> Export:
    """Otto is in the other team only, Ana in both."""
    both = user("ana", "Ana", "Both", [member("town-square"), member("closed")])
    both["user"]["teams"].append({"name": OTHER, "roles": "team_user", "channels": [member("town-square")]})
    return Export([
        {"type": "version", "version": 1},
        line("team", name=mattermost.TEAM, display_name="Acme"),
        line("team", name=OTHER, display_name="Others"),
        channel("town-square", "Town Square"), channel("town-square", "Town Square", team=OTHER),
        channel("closed", "Closed", "P"),
        both,
        user("bea", "Bea", "B", [member("town-square")]),
        user("otto", "Otto", "O", [member("town-square")], team=OTHER, **other),
        user("nil", "Nil", "N", [], team=""),
        post("town-square", "ana", "of acme, @otto, ~town-square", 1),
        post("town-square", "otto", "of others", 2, team=OTHER),
        post("town-square", "otto", "a visit", 3),
        direct(["ana", "otto"], "otto", "of both", 4),
        direct(["otto", "nil"], "otto", "of others alone", 5),
    ], {})  # fmt: skip


def test_of_several_teams_the_operator_says_which(tmp_path: Path) -> None:
    with pytest.raises(ArchiveFailed, match=r"several teams: acme, other\. .*--team"):
        converted(two_teams(), tmp_path)
    with pytest.raises(ArchiveFailed, match=r"no team 'nope'\. Its teams are: acme, other"):
        converted(two_teams(), tmp_path, ("nope",))


def test_of_one_team_comes_what_its_people_could_read(tmp_path: Path) -> None:
    made = converted(two_teams(), tmp_path, ("acme",))
    assert sorted(one["content"].partition(",")[0] for one in made.lines["messages"]) == [
        "a visit",
        "of acme",
        "of both",
    ]
    people = made.by("people", "full_name")
    assert set(people) == {"Notification Bot", "Ana Both", "Bea B", "Otto O"}
    assert not people["Otto O"]["is_active"], "who wrote there, and is of another team, cannot come in"
    assert made.lost["teams that were not asked for"] == 1
    assert made.lost["channels of other teams"] == 1
    assert made.lost["posts of other teams, or of no channel"] == 1
    assert made.lost["direct posts to nobody, or of other teams"] == 1
    with pytest.raises(ArchiveFailed, match="Nobody in the export"):
        converted(two_teams(), tmp_path, ("acme",), owner="otto@example.com")


def test_several_teams_together_show_nobody_what_only_another_team_could_read(tmp_path: Path) -> None:
    made = converted(two_teams(), tmp_path, ("acme", "other"))
    privacy = {one["name"]: one["is_private"] for one in made.lines["channels"]}
    assert privacy == {"Town Square": True, "Town Square (Others)": True, "Closed": True}
    assert len(made.lines["messages"]) == 5
    assert made.person("Nil N")["role"] == 600
    assert made.changed["public channels that others than their team could read here: private"] == 2


# The operator's table


def test_people_are_mapped_by_a_table(tmp_path: Path) -> None:
    table, template = tmp_path / "users.csv", tmp_path / "template.csv"
    table.write_text("id,email,role\ncem_,cem@example.com,moderator\nBea,,administrator\n")
    made = converted(world(), tmp_path, users=table, owner="cem@example.com", users_template=template)
    assert (made.person("cem_")["role"], made.person("cem_")["email"]) == (100, "cem@example.com")
    assert made.person("Bea Bold")["role"] == 200
    assert "ana.admin,Ana Admin,ana@example.com,owner" in template.read_text().splitlines()


@pytest.mark.parametrize("owner", ["nobody@example.com", "gone@example.com"])
def test_an_owner_who_is_not_there_or_left_is_refused(tmp_path: Path, owner: str) -> None:
    with pytest.raises(ArchiveFailed, match="Nobody in the export"):
        converted(world(), tmp_path, owner=owner)


# What is wrong with it

DEEP = b'{"type":"post","post":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_001
TROUBLE: list[tuple[str, Any, str]] = [
    ("no JSON", b"<html>", "lines that cannot be read"),
    ("a cut line", b'{"type":"post","post":{"team":"acme","chan', "lines that cannot be read"),
    ("deep JSON", DEEP, "lines that cannot be read"),
    ("a list", b"[1]", "lines that cannot be read"),
    ("a post that is none", b'{"type":"post","post":3}', "lines that cannot be read"),
    ("a post that is none, written otherwise", b'{"x":1,"type":"post","post":3}', "lines that cannot be read"),
    ("a kind that is none", b'{"type":7}', "lines of an unknown kind"),
    ("an unknown kind", line("comet", name="x"), "lines of an unknown kind"),
    ("an unknown kind, written otherwise", b'{"x":1,"type":"galaxy"}', "lines of an unknown kind"),
    ("somebody without a name", line("user", email="x@example.com"), "people without a name, or in the export twice"),
    ("somebody twice", user("bea", "Bea", "B", []), "people without a name, or in the export twice"),
    ("a channel twice", channel("old", "Old"), "channels without a name, or in the export twice"),
    ("a bot twice", line("bot", username="helper"), "bots without a name, or in the export twice"),
    ("an emoji twice", line("emoji", name="acme_bird"), "custom emoji without a name of their own"),
]


@pytest.mark.parametrize(("bad", "what"), [case[1:] for case in TROUBLE], ids=[case[0] for case in TROUBLE])
def test_one_bad_line_is_counted_once_and_the_rest_comes(made: Made, tmp_path: Path, bad: Any, what: str) -> None:
    again = converted(world().with_lines(bad, post("old", "bea", "after it", 999_000)), tmp_path)
    assert again.lost[what] == made.lost.get(what, 0) + 1
    assert again.find("after it")


def test_odd_values_everywhere_stop_nothing(tmp_path: Path) -> None:
    odd: list[Any] = [
        None,
        3,
        -1.5,
        "x",
        [],
        {},
        [None],
        {"a": None},
        True,
        "9" * 400,
        "\udfff",
        10**30,
        [[]],
        [{"user": 3}],
    ]
    kinds = {
        "post": post("old", "bea", "odd", 1)["post"],
        "direct_post": direct(["bea", "cem_"], "bea", "odd", 1)["direct_post"],
        "user": user("odd", "Odd", "", [member("old")])["user"],
        "channel": channel("odd", "Odd")["channel"],
        "direct_channel": {"participants": [{"username": "bea"}], "members": [], "header": ""},
        "emoji": {"name": "odd", "image": "x"},
        "bot": {"username": "odd", "owner": "x", "display_name": "y"},
        "team": {"name": "acme", "display_name": "x"},
    }
    lines: list[Any] = [
        {"type": kind, kind: about | {key: value}} for kind, about in kinds.items() for key in about for value in odd
    ]
    lines += [
        post("old", "bea", "odd", 2, replies=[said("bea", "odd", 3) | {key: value}])
        for key in said("bea", "", 1)
        for value in odd
    ]
    lines += [{"type": "version", "version": value} for value in odd]
    whole = world().with_lines(*lines)
    # Another name of a team would be another team.
    again = converted(whole, tmp_path, (mattermost.TEAM,))
    assert again.find("first: hello")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"", "neither a zip"), (b"not one", "neither a zip"), (b"PK\x03\x04 cut", "is no zip"), (b"{}\n", "has no team")],
)
def test_what_is_no_export_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    file = tmp_path / "export.zip"
    file.write_bytes(content)
    with pytest.raises(ArchiveFailed, match=sentence):
        made_of(file)


def test_a_zip_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveFailed, match=r"no import\.jsonl"):
        made_of(Export([], {}).write(tmp_path / "e.zip", "readme.txt"))
    with pytest.raises(ArchiveFailed, match="cannot be read"):
        made_of(tmp_path / "not there.zip")


def test_entries_that_lead_elsewhere_or_are_not_known_are_counted(tmp_path: Path) -> None:
    files = world().files | {"../evil": b"x", "readme.txt": b"x", "__MACOSX/x": b"x"}
    made = converted(Export(world().lines, files), tmp_path)
    assert made.lost["entries whose name or kind leads elsewhere"] == 1
    assert made.lost["entries that are not known"] == 1


def test_bombs_are_refused_and_long_lines_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = json.dumps(post("old", "bea", "x" * 500_000, 1)).encode()
    export = world().with_lines(long, post("old", "bea", "after it", 999_000))
    monkeypatch.setattr(reading, "MOST_LINE", 100_000)
    made = converted(export, tmp_path)
    assert made.lost["lines that are too long"] == 1
    assert made.find("after it")
    monkeypatch.setattr(zips, "BOMB_BYTES", 1000)
    with pytest.raises(ArchiveFailed, match="times its size"):
        converted(world().with_lines(b" " * 5_000_000), tmp_path)


def test_a_zip_that_is_broken_inside_is_read_up_to_there(tmp_path: Path) -> None:
    chance = random.Random(1)
    many = [post("old", "bea", chance.randbytes(4500).hex(), place) for place in range(300)]
    file = world().with_lines(*many).write(tmp_path / "e.zip")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    made = made_of(file)
    assert made.lost["files of the export that are cut or broken: their beginnings were read"] == 1
    assert made.find("first: hello")


def test_an_entry_whose_name_is_no_text_is_counted(tmp_path: Path) -> None:
    data = bytearray(world().write(tmp_path / "e.zip").read_bytes())
    for found in list(re.finditer(rb"PK\x01\x02", data))[1:]:
        data[found.start() + 9] |= 0x08  # its name is UTF-8, says the list
    for found in list(re.finditer(rb"PK\x03\x04", data))[1:]:
        data[found.start() + 30] = 0xFF
    (tmp_path / "e.zip").write_bytes(data)
    assert made_of(tmp_path / "e.zip").find("first: hello")


def test_one_place_and_one_millisecond_with_many_posts_take_no_more_time(tmp_path: Path) -> None:
    many = [post("old", "bea", f"at once {place}", 7) for place in range(1100)]
    made = converted(world().with_lines(*many), tmp_path)
    texts = [one["content"] for one in made.said_in("Old") if "at once" in one["content"]]
    assert texts == [f"at once {place}" for place in range(1100)]


def test_what_is_pinned_is_pinned_since_it_was_sent(made: Made) -> None:
    [(words, sent, pinned)] = made.pins()
    assert words == "first:"
    assert sent == pinned
