"""Exports as Slack makes them: one seed, one workspace, with every kind of entry that there is."""

import io
import json
import random
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

Json = dict[str, Any]
BEGAN = 1_700_000_000
GENERAL, RANDOM, CLOSED, DIRECT, GROUP, TWIN = "C0GENERAL", "C0RANDOM", "G0CLOSED", "D0ANABEA", "G0GROUP", "G0TWIN"
ANA, BEA, CEM, GUEST, GONE, PARTNER = "U0ANA", "U0BEA", "U0CEM", "U0GUEST", "U0GONE", "U0PARTNER"
WORDS = [
    "plan",
    "ship",
    "look",
    "maybe",
    "tomorrow",
    "green",
    "build",
    "coffee",
    "review",
    "branch",
    "number",
    "letter",
    "small",
    "wonder",
    "quiet",
    "river",
]
NOISE = ("channel_join", "channel_leave", "group_join", "channel_topic", "pinned_item", "bot_add", "reminder_add")


class Export(NamedTuple):
    """What is in it: entries of the zip by name, JSON or bytes."""

    entries: dict[str, Any]

    def write(self, file: Path) -> Path:
        """As Slack packs it: names in UTF-8, without saying so."""
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in self.entries.items():
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                about = zipfile.ZipInfo(name, (2024, 5, 1, 12, 0, 0))
                about.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(about, data)
        return unflagged(file)

    def messages(self) -> list[Json]:
        """Entries of all days."""
        return [one for name, found in self.entries.items() if "/20" in name for one in found]


def unflagged(file: Path) -> Path:
    """Without the mark of UTF-8 that Python sets where a name needs it."""
    data = bytearray(file.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = data.find(signature)
        while place >= 0:
            data[place + offset + 1] &= ~0x08
            place = data.find(signature, place + 4)
    file.write_bytes(data)
    return file


def stamp(seconds: float, micro: int = 0) -> str:
    return f"{BEGAN + int(seconds)}.{micro:06}"


def said(user: str, text: str, at: str, **more: Any) -> Json:
    return {"type": "message", "user": user, "text": text, "ts": at, **more}


def user(id: str, name: str, **more: Any) -> Json:
    profile = {"real_name": name, "display_name": "", "email": f"{name.split(maxsplit=1)[0].lower()}@example.com"}
    profile |= more.pop("profile", {})
    return {"id": id, "team_id": "T1", "name": name.lower(), "real_name": name, "profile": profile, **more}


def people() -> list[Json]:
    return [
        user(ANA, "Ana Admin", is_admin=True, is_owner=True, is_primary_owner=True, tz="Europe/Madrid",
             profile={"title": "Captain", "phone": "123", "status_text": "out", "status_emoji": ":palm_tree:"}),
        user(BEA, "Bea *Bold*", is_admin=True, tz=None, profile={"fields": {"Xf1": {"value": "x"}}}),
        user(CEM, "Cem", profile={"email": None}),
        user(GUEST, "Gil Guest", is_restricted=True, is_ultra_restricted=True, tz="Nowhere"),
        user(GONE, "Gone", deleted=True),
        user("U0SAME", "Ana Again", profile={"email": "ANA@example.com"}),
        user("U0BOT", "helper", is_bot=True, profile={"bot_id": "B0HELP", "email": None}),
        user("USLACKBOT", "Slackbot", profile={"email": None}),
    ]  # fmt: skip


def channel(id: str, name: str, members: list[str], **more: Any) -> Json:
    about = {"created": BEGAN - 9000, "creator": ANA, "is_archived": False, "is_general": False}
    return {"id": id, "name": name, "members": members, **about, **more}


def workspace() -> Export:
    """A small one, with something of everything."""
    everybody = [ANA, BEA, CEM, GUEST, GONE, PARTNER]
    channels = [
        channel(GENERAL, "general", everybody, is_general=True, purpose={"value": "All &amp; *everything*"},
                topic={"value": "now"}, pins=[
                    {"id": stamp(0, 100), "type": "C", "created": BEGAN + 60}, {"id": "F0PLAN", "type": "F"},
                    {"id": stamp(99_999), "type": "C"}]),
        channel(RANDOM, "zufällig", [ANA, BEA], created=str(BEGAN - 5000), creator=None, is_archived=True),
        channel("C0CASE", "GENERAL", [], created=1),
    ]  # fmt: skip
    entries: dict[str, Any] = {
        "channels.json": channels,
        "groups.json": [channel(CLOSED, "closed", [ANA, BEA])],
        "mpims.json": [
            {"id": GROUP, "name": "mpdm-ana--bea-1", "members": [ANA, BEA, CEM], "created": 0},
            {"id": TWIN, "name": "mpdm-ana--bea-2", "members": [CEM, BEA, ANA], "created": 1},
        ],
        "dms.json": [
            {"id": DIRECT, "created": BEGAN, "members": [ANA, BEA]},
            {"id": "D0SELF", "created": BEGAN, "members": [CEM, CEM]},
        ],
        "users.json": people(),
        "integration_logs.json": [],
        "canvases.json": [{"id": "F1"}],
        "general/canvas_in_the_conversation.json": [{"id": "F1"}],
        "__uploads/F0INSIDE/plan.txt": b"the plan",
        "general/attachments/F0OTHER-pic ture.txt": b"another",
        **dict(days()),
    }
    return Export(entries)


def days() -> Iterator[tuple[str, list[Json]]]:
    yield "general/2023-11-14.json", first_day()
    yield "general/2023-11-15.json", second_day()
    yield "zufällig/2023-11-14.json", [said(BEA, "old news", stamp(5)), said(BEA, "*", stamp(6))]
    yield (
        "closed/2023-11-14.json",
        [
            said(ANA, f"secret of the closed one <#{CLOSED}> <#{CLOSED}|closed>", stamp(10)),
            said(BEA, "answer", stamp(12), thread_ts=stamp(10)),
            said(ANA, "secret of the closed one, too", stamp(11)),
        ],
    )
    yield (
        f"{DIRECT}/2023-11-14.json",
        [
            said(ANA, "secret of two", stamp(20), thread_ts=stamp(20), reply_count=1),
            said(BEA, "answer of two", stamp(21), thread_ts=stamp(20)),
        ],
    )
    yield "D0SELF/2023-11-14.json", [said(CEM, "note to self", stamp(22))]
    yield (
        "mpdm-ana--bea-1/2023-11-14.json",
        [said(CEM, "three, first", stamp(30)), said(BEA, "three, third", stamp(32))],
    )
    yield "mpdm-ana--bea-2/2023-11-14.json", [said(ANA, "three, second", stamp(31))]
    yield "unlisted/2023-11-14.json", [said(BEA, "who reads this?", stamp(40))]


def first_day() -> list[Json]:
    """In no order: readers trust the times."""
    link = f"https://team.slack.com/archives/{GENERAL}/p{BEGAN}000100"
    thread = stamp(100)
    return [
        said(BEA, "second", stamp(1, 200)),
        said(ANA, "first: hello *all* <@U0BEA>", stamp(0, 100), edited={"user": ANA, "ts": stamp(3)}, reactions=[
            {"name": "+1", "users": [BEA, CEM], "count": 2},
            {"name": "+1::skin-tone-3", "users": [BEA], "count": 1},
            {"name": "our_own", "users": [BEA], "count": 1},
            {"name": "cat", "users": [PARTNER], "count": 3},
        ]),
        said(ANA, "Shall *we* <https://x.org|ship> it?\nYes or no", thread, thread_ts=thread, reply_count=2),
        said(BEA, "yes", stamp(101), thread_ts=thread, parent_user_id=ANA),
        said(CEM, "shown to all", stamp(102), thread_ts=thread, subtype="thread_broadcast", root={"ts": thread}),
        said(BEA, "lost its root", stamp(110), thread_ts=stamp(50)),
        said(BEA, f"see <{link}|what Ana said> and <https://team.slack.com/archives/C9/p1>", stamp(111)),
        {"type": "message", "subtype": "bot_message", "bot_id": "B0HELP", "text": "beep", "ts": stamp(120)},
        {"type": "message", "subtype": "bot_message", "bot_id": "B0CI", "username": "CI", "text": "", "ts": stamp(121),
         "attachments": [{"title": "Build 7", "text": "passed", "fallback": "x"}]},
        said("U0BOT", "as a user", stamp(122), bot_id="B0HELP"),
        said(ANA, "waves", stamp(123), subtype="me_message"),
        said("USLACKBOT", "This message was deleted.", stamp(124), subtype="tombstone", thread_ts=stamp(124)),
        said(BEA, "below what was deleted", stamp(125), thread_ts=stamp(124)),
        said("USLACKBOT", "", stamp(126), subtype="huddle_thread", room={"created_by": BEA}),
        said(ANA, "old comment", stamp(127), subtype="file_comment", comment={"user": BEA, "comment": "nice file"}),
        said(PARTNER, "from outside", stamp(128), user_profile={"real_name": "Pat Partner"}),
        *(said(ANA, "noise", stamp(130 + place), subtype=kind) for place, kind in enumerate(NOISE)),
        said(ANA, "from the future", stamp(140), subtype="brand_new_kind"),
    ]  # fmt: skip


def second_day() -> list[Json]:
    inside = {"id": "F0INSIDE", "name": "plan.txt", "title": "The plan", "mode": "hosted", "user": ANA}
    return [
        said(ANA, "with a file", stamp(200), files=[inside], subtype="file_share"),
        said(BEA, "the same file", stamp(201), files=[inside, {"id": "F0OTHER", "name": "pic ture.txt"}]),
        said(BEA, "", stamp(202), files=[{"id": "F0AWAY", "name": "far.pdf", "mode": "hosted",
                                          "url_private": "https://files.slack.com/f/far.pdf?t=xoxe-secret"}]),
        said(BEA, "gone file", stamp(203), files=[{"id": "F0GONE", "mode": "tombstone"}]),
        said(ANA, "word " * 5000, stamp(204)),
        said(ANA, "no time", "NaN"),
        {"type": "message", "text": "no time at all", "user": ANA},
        {"type": "other", "ts": stamp(205)},
        said("U00", "trace", stamp(206)),
        said(ANA, "", stamp(207)),
        said(ANA, "nul \x00 and half \ud83d here", stamp(208)),
        said(ANA, "twice", stamp(209)),
        said(ANA, "twice", stamp(209)),
        said(ANA, "in rich text", stamp(210), blocks=[{"type": "rich_text", "elements": [
            {"type": "rich_text_section", "elements": [{"type": "text", "text": "really *rich*"}]}]}]),
        {"type": "message", "text": "nobody said it", "ts": stamp(211)},
        said(CEM, f"<@{GONE}> <@U0NEVER|never> :cat: <!here>", stamp(212)),
        said(BEA, "also at once", stamp(213)),
    ]  # fmt: skip


def large(seed: int, messages: int, channels: int = 20, users: int = 200) -> Iterator[tuple[str, list[Json]]]:
    """Many days of much talk, entry by entry, for figures: a tenth in threads, a third with markup."""
    chance = random.Random(seed)
    ids = [f"U{place:04}" for place in range(users)]
    rooms = [(f"C{place:04}", f"room-{place}") for place in range(channels)]
    yield "users.json", [user(id, f"Person{place} Name") for place, id in enumerate(ids)]
    yield "channels.json", [channel(id, name, ids) for id, name in rooms]
    each = messages // channels
    for room, (_, name) in enumerate(rooms):
        root, day = "", list[Json]()
        for place in range(each):
            at = stamp(place * 60, room)
            text = " ".join(chance.choices(WORDS, k=chance.randint(3, 25)))
            if place % 3 == 0:
                text += f" *bold* <@{chance.choice(ids)}> `code` <https://example.com/{place}|page> :tada:"
            more: Json = (
                {"reactions": [{"name": "+1", "users": chance.sample(ids, 2), "count": 2}]} if place % 5 == 0 else {}
            )
            if place % 50 == 0:
                root = at
                more |= {"thread_ts": at, "reply_count": 5}
            elif root and place % 10 == 0:
                more |= {"thread_ts": root}
            day.append(said(chance.choice(ids), text, at, **more))
            if len(day) == 1440 or place == each - 1:
                date = datetime.fromtimestamp(BEGAN + place * 60, UTC)
                yield f"{name}/{date:%Y-%m-%d}.json", day
                day = []


def write_large(file: Path, messages: int) -> Path:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
        for name, found in large(1, messages):
            packed.writestr(name, json.dumps(found))
    return file


def in_memory(entries: dict[str, bytes]) -> bytes:
    """A zip of these, as Python makes it."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in entries.items():
            packed.writestr(name, content)
    return target.getvalue()
