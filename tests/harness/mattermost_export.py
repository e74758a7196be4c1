"""Bulk exports as Mattermost makes them: one world, with every kind of line that there is."""

import json
import random
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.harness.picture_server import picture

Json = dict[str, Any]
BEGAN = 1_700_000_000_000
"""Milliseconds."""
TEAM, OTHER = "acme", "other"
PLAN = "20231114/teams/noteam/channels/c1/users/u1/f1/the plan ü.txt"
WORDS = ["plan", "ship", "look", "maybe", "tomorrow", "green", "build", "coffee", "review", "branch", "number", "quiet"]


class Export(NamedTuple):
    """Lines, in their order, and files by their names. A line may be bytes: then it is written as it is."""

    lines: list[Json | bytes]
    files: dict[str, bytes]

    def text(self) -> bytes:
        return b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in self.lines)

    def write(self, file: Path, name: str = "import.jsonl") -> Path:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for entry, content in {name: self.text(), **self.files}.items():
                about = zipfile.ZipInfo(entry, (2024, 5, 1, 12, 0, 0))
                about.compress_type = zipfile.ZIP_DEFLATED
                packed.writestr(about, content)
        return file

    def posts(self) -> list[Json]:
        """Posts and replies."""
        roots = [
            line[kind] for line in self.lines if isinstance(line, dict) and (kind := line["type"]).endswith("post")
        ]
        return [one for root in roots for one in (root, *(root.get("replies") or []))]

    def with_lines(self, *lines: Json | bytes) -> "Export":
        return Export([*self.lines, *lines], self.files)


def line(kind: str, **about: Any) -> Json:
    return {"type": kind, kind: about}


def channel(name: str, shown: str, kind: str = "O", team: str = TEAM, **more: Any) -> Json:
    about = {"team": team, "name": name, "display_name": shown, "type": kind, "header": "", "purpose": ""}
    return line("channel", **(about | more))


def member(name: str, seen: int | None = None, **more: Any) -> Json:
    props = {"desktop": "default", "mobile": "default", "mark_unread": "all"}
    about = {"name": name, "roles": "channel_user", "notify_props": props, "favorite": False}
    return about | ({} if seen is None else {"last_viewed_at": seen}) | more


def user(username: str, first: str, last: str, channels: list[Json], team: str = TEAM, **more: Any) -> Json:
    team_roles = more.pop("team_roles", "team_user")
    teams = [{"name": team, "roles": team_roles, "channels": channels}] if team else None
    about = {"username": username, "email": f"{first.lower()}@example.com", "auth_service": "", "nickname": "",
             "first_name": first, "last_name": last, "position": "", "roles": "system_user", "locale": "en",
             "delete_at": 0, "teams": teams, "auth_data": "secret-of-a-login", "password": "secret-password"}  # fmt: skip
    return line("user", **(about | more))


def said(username: str, text: str, at: int, **more: Any) -> Json:
    about = {"user": username, "type": "", "message": text, "props": {}, "create_at": BEGAN + at, "edit_at": 0}
    return (
        about | {"flagged_by": [], "reactions": None, "replies": None, "attachments": None, "is_pinned": False} | more
    )


def post(where: str, username: str, text: str, at: int, team: str = TEAM, **more: Any) -> Json:
    return {"type": "post", "post": {"team": team, "channel": where, **said(username, text, at, **more)}}


def direct(members: list[str], username: str, text: str, at: int, **more: Any) -> Json:
    return {"type": "direct_post", "direct_post": {"channel_members": members, **said(username, text, at, **more)}}


def reaction(username: str, emoji: str, at: int = 5) -> Json:
    return {"user": username, "emoji_name": emoji, "create_at": BEGAN + at}


def people() -> list[Json]:
    muted = {"desktop": "default", "mark_unread": "mention"}
    return [
        user("ana.admin", "Ana", "Admin", [member("town-square", BEGAN + 10**7, favorite=True), member("closed", BEGAN + 10**7)],
             roles="system_admin system_user", team_roles="team_admin team_user", nickname="Annie", position="Captain",
             profile_image="data/profile_pictures/ana.png", custom_status={"emoji": "palm_tree", "text": "out"}),
        user("bea", "Bea", "*Bold*", [member("town-square", BEGAN + 1500, notify_props=muted), member("closed", 0),
                                      member("old"), member("never")], team_roles="team_admin team_user"),
        user("cem_", "", "", [member("town-square")], email="", nickname=""),
        user("gil", "Gil", "Guest", [member("town-square")], roles="system_guest", team_roles="team_guest"),
        user("gone", "Gone", "", [member("town-square")], delete_at=BEGAN),
        user("ana2", "Ana", "Again", [member("town-square")], email="ANA@example.com"),
        user("teamless", "Tess", "Less", [], team=""),
        line("bot", username="helper", owner="bea", display_name="The Helper", description="", delete_at=0),
        line("bot", username="calls", owner="com.mattermost.calls", display_name="", delete_at=BEGAN),
    ]  # fmt: skip


def talk() -> list[Json]:
    """In no order: readers trust the times."""
    replies = [
        said("bea", "yes", 101_000, reactions=[reaction("ana.admin", "heart")]),
        said("cem_", "rather not", 100_500),
    ]
    webhook = {"from_webhook": "true", "override_username": "CI", "attachments": [
        {"pretext": "Build", "title": "Build 7", "title_link": "https://ci.example/7", "text": "**passed**",
         "fields": [{"title": "Took", "value": 7, "short": True}], "footer": "f", "image_url": "https://ci.example/7.png",
         "actions": [{"name": "Again"}]}]}  # fmt: skip
    return [
        post("town-square", "bea", "second", 1000),
        post("town-square", "ana.admin", "first: hello __all__ @bea. ~town-square ~closed :acme_bird:", 0, edit_at=BEGAN + 3,
             is_pinned=True, flagged_by=["bea", "gil"], reactions=[
                 reaction("bea", "+1"), reaction("cem_", "+1", 7), reaction("bea", "+1_dark_skin_tone"),
                 reaction("bea", "acme_bird"), reaction("gone", "unheard_of")]),
        post("town-square", "ana.admin", "Shall **we** [ship](https://x.org) it?\nYes or no", 100_000, replies=replies,
             thread_followers=[{"user": "bea"}]),
        post("town-square", "ana.admin", "ana joined the channel.", 110_000, type="system_join_channel"),
        post("town-square", "ana.admin", "bea joined the team.", 111_000, type="system_join_team",
             replies=[said("bea", "below a notice", 112_000)]),
        post("town-square", "ana.admin", "header", 113_000, type="system_header_change"),
        post("town-square", "ana.admin", "combined", 114_000, type="system_generic"),
        post("town-square", "bea", "away until Monday", 115_000, type="system_auto_responder"),
        post("town-square", "ana.admin", "*waves*", 116_000, type="me"),
        post("town-square", "ana.admin", "a game", 117_000, type="custom_game"),
        post("town-square", "ana.admin", "", 118_000, type="slack_attachment", props=webhook),
        post("town-square", "helper", "beep", 119_000, props={"from_bot": "true"}),
        post("town-square", "erased", "from nobody", 120_000),
        post("town-square", "bea", "with a file", 121_000, attachments=[{"path": PLAN}, {"path": "gone.txt"},
                                                                       {"path": "../../etc/passwd"}]),
        post("town-square", "ana.admin", "word " * 4000, 122_000),
        post("town-square", "ana.admin", "", 123_000),
        post("town-square", "ana.admin", "no time", 0, create_at=None),
        post("town-square", "ana.admin", "deleted", 124_000, delete_at=BEGAN),
        post("town-square", "ana.admin", "nul \x00 and half \ud83d here", 125_000),
        post("town-square", "ana.admin", "twin one", 126_000, replies=[said("bea", "to one", 127_000)]),
        post("town-square", "ana.admin", "twin two", 126_000, replies=[said("bea", "to two", 127_000)]),
        post("town-square", "ana2", "as herself @here", 128_000),
        post("closed", "ana.admin", "secret of the closed one ~closed", 10_000, replies=[said("bea", "answer", 12_000)]),
        post("old", "bea", "old news", 5000),
        post("unlisted", "bea", "who reads this?", 40_000),
        post("nowhere", "bea", "of another team", 41_000, team=OTHER, replies=[said("bea", "too", 42_000)]),
    ]  # fmt: skip


def direct_talk() -> list[Json]:
    two = [{"username": "ana.admin", "last_viewed_at": BEGAN + 20_000}, {"username": "bea", "last_viewed_at": 0}]
    return [
        line("direct_channel", participants=two, header="about us", favorited_by=[], shown_by=[]),
        line("direct_channel", members=["cem_", "cem_"], header=""),
        line("direct_channel", members=["nobody", "erased"], header=""),
        direct(["ana.admin", "bea"], "ana.admin", "secret of two", 20_000, replies=[said("bea", "answer of two", 21_000)]),
        direct(["bea", "ana.admin"], "bea", "more of two", 22_000, flagged_by=["ana.admin"]),
        direct(["cem_", "cem_"], "cem_", "note to self", 23_000),
        direct(["cem_", "bea", "ana.admin"], "cem_", "three", 24_000),
        direct(["nobody", "erased"], "erased", "of others", 25_000),
    ]  # fmt: skip


def world() -> Export:
    """A small one, with something of everything."""
    lines: list[Json | bytes] = [
        {"type": "version", "version": 1, "info": {"generator": "mattermost-server", "version": "11.6.0"}},
        line("role", name="team_user", permissions=["view_team"]),
        line("scheme", name="s", scope="team"),
        line("team", name=TEAM, display_name="Acme Inc", type="O", description="We make it"),
        channel("town-square", "Town Square"),
        channel("closed", "Closed *Room*", "P"),
        channel("old", "Old", deleted_at=BEGAN),
        channel("strange", "TOWN SQUARE", "X", header="now", purpose="All & *everything*"),
        *people(),
        *talk(),
        line("emoji", name="acme_bird", image="exported_emoji/e1/image.png"),
        line("emoji", name="+Tick", image="nowhere.png"),
        line("emoji", name="tada", image="emoji/e1/image.png"),
        *direct_talk(),
        line("galaxy", name="new in version 99"),
    ]
    files = {
        f"data/{PLAN}": b"the plan",
        "exported_emoji/e1/image.png": picture(32, 32),
        "data/emoji/e1/image.png": picture(32, 32),
        "data/profile_pictures/ana.png": picture(32, 32),
    }
    return Export(lines, files)


def large(seed: int, messages: int, channels: int = 20, users: int = 200) -> Iterator[Json]:
    """Much talk, for figures: a tenth in threads, a third with markup."""
    chance = random.Random(seed)
    names, rooms = [f"person.{place}" for place in range(users)], [f"room-{place}" for place in range(channels)]
    yield {"type": "version", "version": 1}
    yield line("team", name=TEAM, display_name="Acme", type="O")
    yield from (channel(room, room.title()) for room in rooms)
    for place, name in enumerate(names):
        yield user(name, f"Person{place}", "Name", [member(room, BEGAN) for room in rooms])

    def text(place: int) -> str:
        words = " ".join(chance.choices(WORDS, k=chance.randint(3, 25)))
        markup = f" **bold** @{chance.choice(names)} `code` [page](https://example.com/{place}) :tada:"
        return words if place % 3 else words + markup

    for place in range(0, messages, 10):
        for offset in range(9):
            at = (place + offset) * 1000
            reactions = [reaction(name, "+1", at) for name in chance.sample(names, 2)] if offset % 5 == 0 else []
            replies = [said(chance.choice(names), text(place), at + 500)] if not offset else None
            yield post(
                chance.choice(rooms), chance.choice(names), text(offset), at, reactions=reactions, replies=replies
            )


def write_large(file: Path, messages: int) -> Path:
    with (
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed,
        packed.open("import.jsonl", "w") as lines,
    ):
        for one in large(1, messages):
            lines.write(json.dumps(one).encode() + b"\n")
    return file
