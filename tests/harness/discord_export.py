"""Exports as DiscordChatExporter makes them: one server, with every kind of entry that there is."""

import json
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from tests.harness.hostile import image

Json = dict[str, Any]
BEGAN = 1_700_000_000_000
GUILD = {"id": "600", "name": "Makers", "iconUrl": "https://cdn.discordapp.com/embed/avatars/0.png"}
NO_GUILD = {"id": "0", "name": "Direct Messages", "iconUrl": ""}


def at(seconds: float, sequence: int = 0) -> str:
    """An id of that time."""
    return str((BEGAN + int(seconds * 1000) - 1_420_070_400_000 << 22) + sequence)


ANA, BEA, CEM, BOT, HOOK, GONE = at(-90_001), at(-90_002), at(-90_003), at(-90_004), at(-90_005), at(-90_006)
GENERAL, STAFF, FORUM, OTHER = at(-80_001), at(-80_002), at(-80_003), at(-80_004)
CREW, PARTY, LOST = at(-70_001), at(-70_002), at(-70_003)
PARTY_PICTURE = "Makers - Text - general [1].json_Files\\party-0A1B2.png"


def user(id: str, name: str, nickname: str = "", **more: Any) -> Json:
    roles = [{"id": CREW, "name": "Crew @*1*", "color": "#fff", "position": 1}] if id in (ANA, BEA) else []
    return {"id": id, "name": name, "discriminator": "0000", "nickname": nickname or name, "isBot": False, "roles": roles,
            "avatarUrl": "https://cdn.discordapp.com/avatars/x.png", **more}  # fmt: skip


PEOPLE = {
    ANA: user(ANA, "ana", "Ana Anders", avatarUrl="Makers - Text - general [1].json_Files/ana-11111.png"),
    BEA: user(BEA, "bea", "Bea *Bold*"),
    CEM: user(CEM, "cem.k"),
    BOT: user(BOT, "helper", isBot=True),
    HOOK: user(HOOK, "CI", isBot=True),
}
CUSTOM = {"id": PARTY, "name": "PartyCat", "code": "PartyCat", "isAnimated": False, "imageUrl": PARTY_PICTURE}
AWAY = {"id": LOST, "name": "lost", "code": "lost", "imageUrl": "https://cdn.discordapp.com/emojis/1.png"}


def said(who: str, text: str, seconds: float, sequence: int = 0, **more: Any) -> Json:
    zone = datetime.fromtimestamp(BEGAN / 1000, UTC) + timedelta(seconds=seconds, hours=2)
    about = {
        "id": at(seconds, sequence),
        "type": "Default",
        "timestamp": f"{zone:%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "+02:00",
    }
    lists: Json = {key: [] for key in ("attachments", "embeds", "stickers", "reactions", "mentions", "inlineEmojis")}
    return {
        **about,
        "timestampEdited": None,
        "isPinned": False,
        "content": text,
        "author": PEOPLE[who],
        **lists,
        **more,
    }


def file(name: str, url: str, **more: Any) -> Json:
    return {"id": at(-60_000, sum(map(ord, name))), "url": url, "fileName": name, "fileSizeBytes": 8, **more}


def channel(id: str, kind: str | int, name: str, **more: Any) -> Json:
    return {"id": id, "type": kind, "categoryId": "700", "category": "Text", "name": name, "topic": None, **more}


def exported(channel: Json, messages: list[Any], guild: Json = GUILD) -> Json:
    head = {"guild": guild, "channel": channel, "dateRange": {"after": None, "before": None}}
    return {**head, "exportedAt": "2026-01-01T00:00:00+02:00", "messages": messages, "messageCount": len(messages)}


NOISE = ("RecipientAdd", "GuildMemberJoin", "ChannelNameChange", "ChannelPinnedMessage", "Call", "ThreadCreated", "21")


def general() -> list[Json]:
    first = f"https://discord.com/channels/600/{GENERAL}/{at(0)}"
    plan = file("plan.txt", "Makers - Text - general [1].json_Files\\plan-3C4D5.txt")
    return [
        said(BEA, "second", 1),
        said(BEA, "in the same millisecond", 1, 7),
        said(ANA, f"first: hello **all** <@{BEA}> <@!{GONE}> <:PartyCat:{PARTY}> <:lost:{LOST}>", 0, isPinned=True,
             timestampEdited="2026-01-01T00:00:00+02:00", mentions=[PEOPLE[BEA]], inlineEmojis=[CUSTOM, AWAY], reactions=[
                 {"emoji": {"id": "", "name": "👍", "code": "thumbsup"}, "count": 3, "users": [PEOPLE[BEA], PEOPLE[CEM]]},
                 {"emoji": {"id": None, "name": "👍🏽"}, "count": 1, "users": [PEOPLE[BEA]]},
                 {"emoji": CUSTOM, "count": 1, "users": [PEOPLE[BEA]]},
                 {"emoji": AWAY, "count": 1, "users": [PEOPLE[BEA]]},
             ]),
        said(BEA, "an answer", 10, type="Reply", reference={"type": "Default", "messageId": at(0), "channelId": GENERAL}),
        said(BEA, "an answer to nothing", 11, type="Reply", reference={"messageId": at(-5), "channelId": GENERAL}),
        said(BEA, f"see [what Ana said]({first}) in <#{GENERAL}> <#{STAFF}> <#1>", 12),
        said(ANA, f"@everyone <@&{CREW}> <@&1> <t:1700000000:R> </play:1> ||the end|| __u__ \\*x\\*", 13),
        said(ANA, "flat: hi @Bea *Bold* and `@bea` :PartyCat:", 14, mentions=[PEOPLE[BEA]], inlineEmojis=[CUSTOM]),
        said(ANA, "Shall we **ship** it?", 100),
        said(ANA, "with a file", 120, attachments=[plan]),
        said(BEA, "", 121, attachments=[plan]),
        said(BEA, "far away", 122, attachments=[
            file("far.pdf", "https://cdn.discordapp.com/attachments/1/2/far.pdf?ex=aa&is=bb&hm=cc"),
            file("up.txt", "../../../etc/passwd"), file("other.txt", "D:\\exports\\Media_Files\\other-77777.txt")]),
        said(CEM, "", 123, stickers=[{"id": at(-50_000), "name": "Wave", "format": "Lottie", "sourceUrl": "https://x.org/1.json"}]),
        said(BOT, "", 130, type="20", embeds=[{
            "title": "Build 7", "url": "https://ci.example.com/7", "description": "**passed**",
            "timestamp": "2026-01-01T00:00:00+00:00",
            "author": {"name": "CI"}, "fields": [{"name": "Branch", "value": "main", "isInline": True}],
            "footer": {"text": "the end"}, "images": [{"url": "x", "canonicalUrl": "https://x.org/i.png"}]}],
            interaction={"id": "1", "name": "build", "user": PEOPLE[ANA]}),
        said(ANA, "https://x.org/a", 131, embeds=[{"title": "A preview", "url": "https://x.org/a", "description": "d"}]),
        said(BOT, "as a hook", 132, author=PEOPLE[HOOK] | {"name": "Deploy", "nickname": "Deploy"}),
        said(HOOK, "as another hook", 133),
        said(CEM, "", 134, forwardedMessage={"content": "forwarded *words*", "attachments": [plan], "embeds": [], "stickers": []},
             reference={"type": "Forward", "messageId": at(-4)}),
        *(said(ANA, "noise", 150 + place, type=kind) for place, kind in enumerate(NOISE)),
        said(ANA, "from the future", 160, type="99"),
        said(ANA, "word " * 5000, 170),
        said(ANA, "nul \x00 and half \ud83d here", 171),
        said(ANA, "", 172),
        said(ANA, "twice", 173),
        said(ANA, "no id", 174, id="x"),
        said(ANA, "no author", 175, author=None),
    ]  # fmt: skip


def server() -> dict[str, Any]:
    """A small one, with something of everything: entries by name, JSON or bytes."""
    thread, post, secret = at(100), at(300), at(310)
    parent = {"categoryId": GENERAL, "category": "general"}
    files = "Makers - Text - general [1].json_Files"
    liked = {"emoji": {"id": "", "name": "👍"}, "count": 1, "users": [PEOPLE[BEA]]}
    return {
        "Makers - Text - general [1].json": exported(
            channel(GENERAL, "GuildTextChat", "general", topic="All *everything*"), general()
        ),
        "Makers - Text - general [1] [part 2].json": exported(
            channel(GENERAL, "GuildTextChat", "general"), [said(ANA, "twice", 173), said(ANA, "in part two", 180)]
        ),
        "Makers - Text - staff [2].json": exported(
            channel(STAFF, 0, "staff"), [said(ANA, "secret of the staff", 200), said(BEA, "indeed", 201)]
        ),
        "Makers - general - ship [3].json": exported(
            channel(thread, "GuildPublicThread", "Ship *it*", **parent), [said(BEA, "yes", 101), said(CEM, "no", 102)]
        ),
        "Makers - ideas - post [4].json": exported(
            channel(post, "GuildPublicThread", "A post", categoryId=FORUM, category="ideas"), [said(CEM, "my idea", 300)]
        ),
        "Makers - general - hush [5].json": exported(
            channel(secret, "GuildPrivateThread", "hush", **parent), [said(ANA, "secret of a thread", 310)]
        ),
        "Makers - Text - like it [6].json": exported(
            channel(OTHER, "GuildNewKind", "GENERAL"), [said(CEM, "new kind", 320, reactions=[liked])]
        ),
        "dm/Direct Messages - bea [7].json": exported(
            channel("71", "DirectTextChat", "bea"), [said(ANA, "secret of two", 400), said(BEA, "answer of two", 402)], NO_GUILD
        ),
        "dm/Direct Messages - bea [8].json": exported(
            channel("72", "DirectTextChat", "bea"), [said(BEA, "also of two", 401), said(ANA, "yes, of two", 403)], NO_GUILD
        ),
        "dm/Direct Messages - cem [9].json": exported(
            channel("73", "DirectTextChat", "cem.k"), [said(ANA, "unanswered", 410)], NO_GUILD
        ),
        f"{files}/plan-3C4D5.txt": b"the plan",
        f"{files}/party-0A1B2.png": image(32, 32),
        f"{files}/ana-11111.png": image(40, 40),
        f"{files}/evil-99999.json": exported(channel(GENERAL, "GuildTextChat", "general"), [said(BEA, "forged", 5)]),
        "Media_Files/other-77777.txt": b"the other",
        "notes.json": {"a": 1},
    }  # fmt: skip


def messages() -> int:
    """Entries of all channels."""
    return sum(
        len(found["messages"])
        for name, found in server().items()
        if isinstance(found, dict) and "messages" in found and "_Files/" not in name
    )


class Written(NamedTuple):
    folder: Path
    zip: Path


def write(entries: dict[str, Any], folder: Path) -> Written:
    """The same as a folder and as a zip."""
    inside, packed = folder / "export", folder / "export.zip"
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        for name, content in entries.items():
            data = content if isinstance(content, bytes) else json.dumps(content, indent=2).encode()
            target.writestr(zipfile.ZipInfo(name, (2024, 5, 1, 12, 0, 0)), data, zipfile.ZIP_DEFLATED)
            path = inside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return Written(inside, packed)
