"""Exports of Discord become archives: each entry is a message or a line of the report, whatever is wrong with it."""

import asyncio
import json
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tertulia.archives.converting import zips
from tertulia.archives.converting.accounts import Request
from tertulia.archives.converting.discord.actions import convert
from tertulia.archives.converting.fetching import Fetching
from tertulia.archives.converting.report import Incidents
from tertulia.archives.errors import ArchiveFailed
from tertulia.kernel.outbound import Outbound
from tertulia.kernel.settings import Settings
from tests.harness import discord_export as discord
from tests.harness.converted import Json, Made, read_made
from tests.harness.discord_export import (
    ANA,
    BEA,
    GENERAL,
    NOISE,
    STAFF,
    at,
    channel,
    exported,
    said,
    server,
    user,
    write,
)
from tests.harness.picture_server import picture_server

USERS = f"id,email,role\n{ANA},ana@example.com,\n{BEA},bea@example.com,guest\n"


def made_of(
    paths: list[Path],
    work: Path,
    public: tuple[str, ...] = ("general",),
    fetching: Fetching | None = None,
    owner: str = "ana@example.com",
) -> Made:
    """Converted, and read to its end by whoever reads archives."""
    target, folder = work / "made.tar", work / "temporary"
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.iterdir():
        left.unlink()
    (work / "users.csv").write_text(USERS)
    incidents = Incidents(folder)
    try:
        request = Request(paths[0], "team", users=work / "users.csv", owner=owner)
        working = convert(request, paths, frozenset(public), target, folder, incidents, lambda *_: None, fetching)
        outcome = asyncio.run(working)
    finally:
        incidents.close()
    return read_made(target, outcome, incidents)


def converted(entries: dict[str, Any], work: Path, **options: Any) -> Made:
    return made_of([write(entries, work).zip], work, **options)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return converted(server(), tmp_path_factory.mktemp("discord"))


ENTRY_LOSSES = (
    "joins and leaves",
    "changes of channels",
    "notices of pins",
    "notices of calls",
    "notices of threads",
    "second copies of messages that began a thread",
    "messages without a word",
    "messages without an id of Discord",
    "messages that are in the export twice",
)


def test_each_entry_is_imported_or_in_the_report(made: Made) -> None:
    assert made.outcome.read == discord.messages()
    lost = {what: made.lost.get(what, 0) for what in ENTRY_LOSSES}
    assert made.outcome.imported + sum(lost.values()) == made.outcome.read
    assert all(lost.values()), lost
    assert sum(lost[what] for what in ENTRY_LOSSES[:6]) == len(NOISE)
    assert made.lost["JSON files that are no channel of Discord"] == 1
    assert not [line for line in made.lines["messages"] if "forged" in line["content"]]


def test_messages_follow_time_over_all_conversations(made: Made) -> None:
    ordered = sorted(made.lines["messages"], key=lambda line: line["id"])
    times = [datetime.fromisoformat(line["sent"]) for line in ordered]
    assert times == sorted(times)
    texts = [line["content"] for line in made.said_in("general")]
    assert texts[0].startswith("first: hello **all** @**|")
    assert texts[1:3] == ["second", "in the same millisecond"]
    assert made.lines["messages"][0]["sent"].startswith("2023-11-14T22:13:20")


def test_threads_and_posts_of_forums_are_topics(made: Made) -> None:
    began, answer = (
        made.find("Shall we **ship** it?"),
        next(line for line in made.lines["messages"] if line["content"] == "yes"),
    )
    topics = made.by("topics", "name")
    assert made.topic_of(began) == "imported from Discord"
    assert "[2 replies: Ship &#42;it&#42;](/#narrow/channel/" in began["content"]
    talk = [line for line in made.lines["messages"] if line["topic_id"] == topics["Ship *it*"]["id"]]
    assert [line["content"] for line in talk[1:]] == ["yes", "no"]
    assert talk[0]["sender_id"] == 1
    assert "> Shall we ship it?" in talk[0]["content"]
    assert answer["conversation_id"] == began["conversation_id"]
    post = made.find("my idea")
    assert made.topic_of(post) == "A post"
    assert made.by("channels", "id")[post["conversation_id"]]["name"] == "ideas"
    assert sum(line["topic_id"] == post["topic_id"] for line in made.lines["messages"]) == 1, "nothing is said about it"


def test_only_what_the_operator_called_public_is_so(made: Made, tmp_path: Path) -> None:
    channels = made.by("channels", "name")
    privacy = {name: line["is_private"] for name, line in channels.items()}
    assert privacy == {
        "general": False, "staff": True, "ideas": True, "hush": True, "GENERAL (2)": True, "with cem.k": True,
    }  # fmt: skip
    people = {line["id"]: line["full_name"] for line in made.lines["people"]}
    members: dict[str, set[str]] = {name: set() for name in channels}
    by_id = made.by("channels", "id")
    for line in made.lines["subscriptions"]:
        members[by_id[line["channel_id"]]["name"]].add(people[line["user_id"]])
    assert members["staff"] == {"Ana Anders", "Bea Bold"}
    assert members["hush"] == {"Ana Anders"}
    assert members["GENERAL (2)"] == {"cem.k", "Bea Bold"}, "she reacted there"
    assert members["with cem.k"] == {"Ana Anders"}
    assert "cem.k" in members["general"], "he wrote in a thread, and reacted"
    first = made.find("secret of two")
    talk = [line["content"] for line in made.lines["messages"] if line["conversation_id"] == first["conversation_id"]]
    assert talk == ["secret of two", "also of two", "answer of two", "yes, of two"]
    assert len(made.lines["directs"]) == 1
    every = converted(server(), tmp_path, public=("*",))
    assert {line["name"] for line in every.lines["channels"] if line["is_private"]} == {
        "hush",
        "GENERAL (2)",
        "with cem.k",
    }
    with pytest.raises(ArchiveFailed, match="'nowhere'"):
        converted(server(), tmp_path, public=("nowhere",))
    [folder] = made.lines["folders"]
    assert folder["name"] == "Text"
    assert channels["general"]["folder_id"] == folder["id"]
    assert channels["general"]["description"] == "All &#42;everything&#42;"


def test_people_are_who_the_operator_says_and_roles_are_groups(made: Made) -> None:
    people = made.by("people", "full_name")
    assert people["Ana Anders"]["role"] == 100
    assert people["Ana Anders"]["email"] == "ana@example.com"
    assert people["Bea Bold"]["role"] == 600
    assert people["cem.k"]["email"] is None
    assert {name for name, line in people.items() if line["bot"]} == {"Notification Bot", "helper", "Deploy", "CI"}
    [group] = made.lines["groups"]
    assert group["name"] == "Crew 1"
    assert group["members"] == sorted([people["Ana Anders"]["id"], people["Bea Bold"]["id"]])
    assert f"avatar/{people['Ana Anders']['id']}" in made.blobs
    assert not people[f"Unknown {discord.GONE}"]["is_active"]


def test_mentions_links_and_answers_lead_to_what_they_meant(made: Made) -> None:
    first, ana, bea = made.find("first: hello"), made.person("Ana Anders")["id"], made.person("Bea Bold")["id"]
    gone = made.person(f"Unknown {discord.GONE}")["id"]
    assert first["content"] == f"first: hello **all** @**|{bea}** @**|{gone}** :partycat: :lost:"
    answer = next(
        line for line in made.lines["messages"] if line["content"].endswith("\n\nan answer")
    )  # fmt: skip
    assert answer["content"].startswith(f"> @_**|{ana}** [wrote](/#narrow/channel/")
    assert f"/near/{first['id']})" in answer["content"]
    assert made.find("an answer to nothing")["content"] == "an answer to nothing"
    told = made.find("what Ana said")["content"]
    assert f"/near/{first['id']})" in told
    assert told.endswith("in #**general** #private-channel #unknown")
    crew = made.find("/play")["content"]
    assert crew == (
        "@**all** @*Crew 1* @role <time:2023-11-14T22:13:20Z> /play\n```spoiler\nthe end\n```\nu &#42;x&#42;"
    )
    assert made.find("flat:")["content"] == f"flat: hi @**|{bea}** and `@bea` :partycat:"


def test_a_link_into_a_private_channel_tells_nobody_what_it_is_called(tmp_path: Path) -> None:
    entries = server()
    staff = f"https://discord.com/channels/600/{STAFF}/{at(200)}"
    two = f"https://discord.com/channels/@me/71/{at(400)}"
    entries["Makers - Text - general [1].json"]["messages"].append(
        said(BEA, f"look [there]({staff}) [here]({two})", 190)
    )
    entries["Makers - Text - staff [2].json"]["messages"].append(said(ANA, f"as [before]({staff})", 202))
    made = converted(entries, tmp_path)
    assert made.find("look [there]")["content"] == f"look [there]({staff}) [here]({two})"
    assert f"/near/{made.find('secret of the staff')['id']})" in made.find("as [before]")["content"]


def test_custom_emoji_hide_none_of_unicode_and_half_a_character_begins_a_thread(tmp_path: Path) -> None:
    entries = server()
    talk = entries["Makers - Text - general [1].json"]["messages"]
    fire = discord.CUSTOM | {"id": at(-70_004), "name": "fire"}
    talk.append(said(BEA, f"it is <:fire:{fire['id']}>", 190, inlineEmojis=[fire]))
    [began] = [one for one in talk if one["id"] == at(100)]
    began["content"] = "`halved \ud83d of it`"
    made = converted(entries, tmp_path)
    assert made.find("it is")["content"] == "it is :fire_2:"
    assert made.find("`halved")["content"].startswith("`halved  of it`")


def test_reactions_are_once_for_each_person_and_emoji(made: Made) -> None:
    found = [(line["user_id"], line["emoji_name"]) for line in made.find("first: hello")["reactions"]]
    bea, cem = made.person("Bea Bold")["id"], made.person("cem.k")["id"]
    assert found == [(bea, "+1"), (cem, "+1"), (bea, "partycat")]
    assert made.lost["reactions of which the export does not say who"] == 1
    assert made.lost["reactions with emoji that are not known here"] == 1
    [emoji] = made.lines["emoji"]
    assert made.blobs[f"emoji/{emoji['id']}"].startswith(b"\x89PNG")


def test_cards_stickers_and_what_was_forwarded_keep_their_words(made: Made) -> None:
    card = made.find("Build 7")["content"]
    assert card == (
        "*Ana Anders used /build*\n> **CI**\n>\n> [Build 7](https://ci.example.com/7)\n>\n> **passed**\n>\n> **Branch:** main"
        "\n>\n> https://x.org/i.png\n>\n> the end <time:2026-01-01T00:00:00Z>"
    )
    assert made.find("x.org/a")["content"] == "https://x.org/a"
    assert made.find("Sticker")["content"] == "*Sticker: Wave*"
    assert made.find("Forwarded")["content"].startswith("> *Forwarded:*\n>\n> forwarded *words*")


def test_files_come_from_beside_the_export_and_no_path_leads_out_of_it(made: Made) -> None:
    files = made.by("files", "name")
    assert set(files) == {"plan.txt", "other.txt"}
    assert made.blobs[f"file/{files['plan.txt']['id']}"] == b"the plan"
    assert made.blobs[f"file/{files['other.txt']['id']}"] == b"the other"
    far = made.find("far away")["content"]
    assert "[far.pdf](https://cdn.discordapp.com/attachments/1/2/far.pdf)" in far
    assert "*up&#46;txt*" in far
    assert b"hm=cc" not in made.data


def test_folders_zips_and_single_files_are_the_same(made: Made, tmp_path: Path) -> None:
    written = write(server(), tmp_path)
    assert made_of([written.folder], tmp_path).data == made.data
    singles = [path for path in sorted(written.folder.rglob("*.json")) if "_Files" not in path.parent.name]
    again = made_of([*singles, written.folder / "Media_Files"], tmp_path)
    assert len(again.lines["messages"]) == len(made.lines["messages"])


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    written = write(server(), tmp_path)
    place = written.folder / "Media_Files" / "other-77777.txt"
    place.unlink()
    place.symlink_to("/etc/passwd")
    assert "other.txt" not in made_of([written.folder], tmp_path).by("files", "name")


def test_files_are_fetched_from_the_one_host_if_the_operator_asks(tmp_path: Path) -> None:
    with picture_server() as server_, picture_server() as elsewhere:
        good = server_.show("/good?ex=aa&hm=secret", b"the file", "text/plain")
        attached = [
            discord.file("good.txt", good),
            discord.file("dead.txt", server_.show("/dead", b"<html>", "text/html")),
            discord.file("elsewhere.txt", elsewhere.show("/x", b"x", "text/plain")),
        ]
        entries = server() | {
            "x.json": exported(channel("9", "GuildTextChat", "x"), [said(ANA, "look", 900, attachments=attached)])
        }
        outbound = Outbound(Settings(), seconds=5, networks="127.0.0.0/8")
        fetching = Fetching(outbound, tmp_path / "files", server_.url, pause=0.0)
        made = converted(entries, tmp_path, fetching=fetching)
        assert elsewhere.asked == []
    names = made.by("files", "name")
    assert made.blobs[f"file/{names['good.txt']['id']}"] == b"the file"
    assert "dead.txt" not in names
    assert made.changed["files that could not be fetched"] >= 2
    assert b"hm=secret" not in made.data


# What is wrong with it

CUT = "files of the export that are cut or broken: their beginnings were read"
ODD_CHANNEL = exported(channel("9", "GuildTextChat", "odd"), [3, None, "x", []])
TROUBLE: list[tuple[str, dict[str, Any], str]] = [
    ("a path that leads up", {"../../evil.json": ODD_CHANNEL}, "entries whose name or kind leads elsewhere"),
    ("records that are none", {"odd.json": ODD_CHANNEL}, "records that cannot be read"),
    ("no channel", {"odd.json": {"guild": {}, "messages": []}}, "JSON files that are no channel of Discord"),
    ("a list", {"odd.json": [1, 2]}, "JSON files that are no channel of Discord"),
    ("no JSON", {"odd.json": b"<html>"}, "JSON files that are no channel of Discord"),
    ("cut", {"odd.json": json.dumps(exported(channel("9", "GuildTextChat", "odd"), [said(ANA, "kept", 1)])).encode()[:-30]}, CUT),
    ("deep", {"odd.json": b'{"guild":{},"channel":{"id":"9"},"messages":[' + b'{"a":' * 100_000}, CUT),
]  # fmt: skip


@pytest.mark.parametrize(("entries", "what"), [case[1:] for case in TROUBLE], ids=[case[0] for case in TROUBLE])
def test_one_bad_thing_is_counted_and_the_rest_comes(tmp_path: Path, entries: Json, what: str) -> None:
    made = made_of([write_zip_only(server() | entries, tmp_path)], tmp_path)
    assert made.lost[what] >= 1
    assert made.find("first: hello")


def write_zip_only(entries: dict[str, Any], folder: Path) -> Path:
    good = {name: content for name, content in entries.items() if ".." not in name}
    file = write(good, folder).zip
    with zipfile.ZipFile(file, "a") as packed:
        for name in entries.keys() - good.keys():
            packed.writestr(name, json.dumps(entries[name]))
    return file


def test_odd_values_everywhere_stop_nothing(tmp_path: Path) -> None:
    odd: list[Any] = [
        None,
        3,
        -1.5,
        2**70,
        "x",
        "",
        [],
        {},
        [None],
        {"a": None},
        True,
        "9" * 400,
        "\udfff",
        [{"id": 3}],
        {"id": []},
    ]
    fields = [*said(ANA, "", 0), "reference", "forwardedMessage", "interaction"]
    entries: list[Any] = [
        said(ANA, "odd", 3000 + place, number) | {name: value}
        for place, name in enumerate(fields)
        for number, value in enumerate(odd)
    ]
    inside = [
        said(ANA, "odd", 4000 + number, place, **{name: [{key: value}]})
        for number, value in enumerate(odd)
        for place, (name, key) in enumerate(
            [
                ("embeds", key)
                for key in ("title", "url", "description", "author", "fields", "images", "footer", "timestamp")
            ]
            + [("attachments", key) for key in ("id", "url", "fileName", "fileSizeBytes")]
            + [("reactions", key) for key in ("emoji", "count", "users")]
            + [("stickers", key) for key in ("id", "name", "sourceUrl")]
        )
    ]
    people = [said(ANA, "odd", 5000 + place, author=user(at(-place), "odd") | {name: value})
              for place, (name, value) in enumerate((name, value) for name in user("1", "x") for value in odd)]  # fmt: skip
    more = {
        f"odd{place}{name}.json": exported(
            channel(at(-900, place), kind, "odd") | {name: value}, [said(ANA, "odd", 6000 + place)]
        )
        for place, value in enumerate(odd)
        for name in ("id", "type", "name", "topic", "categoryId", "category")
        for kind in ("GuildTextChat",)
    }
    more["odd.json"] = exported(channel("9", "GuildTextChat", "odd"), [*entries, *inside, *people])
    made = converted(server() | more, tmp_path)
    assert made.find("first: hello")
    assert made.outcome.read > len(entries) + len(inside) + len(people)


def test_what_is_no_export_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ArchiveFailed, match="no JSON file of DiscordChatExporter"):
        converted({"readme.txt": b"x"}, tmp_path)
    with pytest.raises(ArchiveFailed, match="cannot be read"):
        made_of([tmp_path / "never"], tmp_path)


def test_bombs_are_refused_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zips, "BOMB_BYTES", 1000)
    with pytest.raises(ArchiveFailed, match="times its size"):
        converted(server() | {"bomb.json": b" " * 30_000_000}, tmp_path)


def test_a_thread_without_its_channel_is_a_topic_all_the_same(tmp_path: Path) -> None:
    alone = {name: content for name, content in server().items() if "ship" in name}
    made = converted(alone, tmp_path, owner="bea@example.com")
    assert [line["content"] for line in made.said_in("general")] == ["yes", "no"]
    assert GENERAL not in json.dumps(made.lines["channels"])


def test_what_is_pinned_is_pinned_since_it_was_sent(made: Made) -> None:
    [(words, sent, pinned)] = made.pins()
    assert words == "first:"
    assert sent == pinned
