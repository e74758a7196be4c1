"""Dumps as mongodump makes them of Rocket.Chat: one workspace, with every kind of document that there is."""

import gzip
import struct
from pathlib import Path
from typing import Any, NamedTuple

from tests.harness.hostile import image

Json = dict[str, Any]
BEGAN = 1_700_000_000_000
GENERAL, CLOSED, DIRECT = "GENERAL", "CLOSED", "ANABEA"


class Time(int):
    """Milliseconds that are a date in BSON."""


class ObjectId(bytes):
    """Twelve bytes that are an id of MongoDB."""


def encoded(value: Json) -> bytes:
    """A document of BSON."""
    inside = b"".join(_element(key, one) for key, one in value.items())
    return struct.pack("<i", len(inside) + 5) + inside + b"\0"


def _element(key: str, value: Any) -> bytes:
    kind, data = _value(value)
    return bytes([kind]) + key.encode() + b"\0" + data


def _value(value: Any) -> tuple[int, bytes]:
    match value:
        case None:
            return 10, b""
        case bool():
            return 8, bytes([value])
        case Time():
            return 9, struct.pack("<q", value)
        case int():
            return (16, struct.pack("<i", value)) if abs(value) < 2**31 else (18, struct.pack("<q", value))
        case float():
            return 1, struct.pack("<d", value)
        case str():
            data = value.encode(errors="surrogatepass") + b"\0"
            return 2, struct.pack("<i", len(data)) + data
        case ObjectId():
            return 7, bytes(value)
        case bytes():
            return 5, struct.pack("<i", len(value)) + b"\0" + value
        case list():
            return 4, encoded({str(place): one for place, one in enumerate(value)})
        case dict():
            return 3, encoded(value)
    raise TypeError(value)


class Dump(NamedTuple):
    """Documents by collection; bytes are written as they are."""

    collections: dict[str, Any]

    def write(self, folder: Path, *, packed: bool = False) -> Path:
        """A folder with one file for each collection."""
        inside = folder / "meteor"
        inside.mkdir(parents=True, exist_ok=True)
        for name, data in self.raw().items():
            if packed:
                (inside / f"{name}.bson.gz").write_bytes(gzip.compress(data, mtime=0))
            else:
                (inside / f"{name}.bson").write_bytes(data)
        return folder

    def write_archive(self, file: Path, *, packed: bool = False) -> Path:
        """All in one file, each collection in two runs, as `mongodump --archive` interleaves them."""
        end = b"\xff\xff\xff\xff"
        about = [encoded({"db": "meteor", "collection": name, "metadata": "{}"}) for name in self.collections]
        data = b"\x6d\xe2\x99\x81" + encoded({"version": "0.1"}) + b"".join(about) + end
        for half in (0, 1):
            for name, found in self.collections.items():
                documents = [encoded(one) for one in found] if isinstance(found, list) else [found]
                middle = len(documents) // 2
                part = documents[middle:] if half else documents[:middle]
                data += encoded({"db": "meteor", "collection": name, "EOF": False, "CRC": 0}) + b"".join(part) + end
        for name in self.collections:
            data += encoded({"db": "meteor", "collection": name, "EOF": True, "CRC": 7}) + end
        file.write_bytes(gzip.compress(data, mtime=0) if packed else data)
        return file

    def raw(self) -> dict[str, bytes]:
        return {
            name: found if isinstance(found, bytes) else b"".join(encoded(one) for one in found)
            for name, found in self.collections.items()
        }

    def with_documents(self, **more: list[Json]) -> "Dump":
        return Dump(self.collections | {name: [*self.collections.get(name, []), *more[name]] for name in more})


def at(seconds: float) -> Time:
    return Time(BEGAN + int(seconds * 1000))


def user(key: str, handle: str, name: str, **more: Any) -> Json:
    about = {"_id": key, "username": handle, "name": name, "type": "user", "active": True, "roles": ["user"]}
    secret = {
        "password": {"bcrypt": "$2b$10$hash-of-a-password"},
        "resume": {"loginTokens": [{"hashedToken": "token-x"}]},
    }
    emails = [{"address": f"{handle}@example.com", "verified": True}]
    return {**about, "emails": emails, "services": secret, "createdAt": at(-9000), "__rooms": [GENERAL], **more}


def users() -> list[Json]:
    return [
        user("uAna", "ana", "Ana Admin", roles=["admin", "user"], statusText="at the sea", __rooms=[GENERAL, CLOSED]),
        user("uBea", "bea", "Bea *Bold*", __rooms=[GENERAL, CLOSED]),
        user("uCem", "cem.k", "Cem", emails=[{"address": "cem@example.com", "verified": False}]),
        user("uGil", "gil", "Gil Guest", roles=["guest"]),
        user("uGone", "gone", "Gone", active=False),
        user("uAgain", "again", "Ana Again", emails=[{"address": "ANA@example.com", "verified": True}]),
        user("uNone", "none", "No Address", emails=None),
        user("rocket.cat", "rocket.cat", "Rocket.Cat", type="bot", emails=None),
        {"_id": "uVisitor", "username": "guest-1", "type": "unknown", "services": {}},
    ]


def room(key: str, kind: str, **more: Any) -> Json:
    return {
        "_id": key,
        "t": kind,
        "name": key.lower(),
        "ts": at(-8000),
        "u": {"_id": "uAna", "username": "ana"},
        **more,
    }


def rooms() -> list[Json]:
    return [
        room(GENERAL, "c", default=True, description="All *everything*", topic="now"),
        room("CASE", "c", name="GENERAL", fname="General", archived=True, ro=True),
        room(CLOSED, "p", fname="Closed one"),
        room("TEAM", "p", teamMain=True, teamId="t1"),
        room("TALK", "c", fname="About the *plan*", prid=GENERAL),
        room("WHISPER", "p", fname="Not for all", prid=GENERAL),
        room("ASIDE", "p", fname="Aside", prid=CLOSED),
        room("LEAKY", "p", fname="With a guest", prid=CLOSED),
        room("DMTALK", "p", fname="In direct", prid=DIRECT),
        room(DIRECT, "d", uids=["uAna", "uBea"], usernames=["ana", "bea"]),
        room("TWIN", "d", uids=["uBea", "uAna"], usernames=["bea", "ana"]),
        room("OLDDM", "d", usernames=["cem.k", "bea"]),
        room("SELF", "d", uids=["uCem"], usernames=["cem.k"]),
        room("EMPTYDM", "d"),
        room("LIVE", "l", name="guest-1"),
        room("NEWKIND", "zz"),
    ]


def subscriptions() -> list[Json]:
    people = {"uAna": "ana", "uBea": "bea", "uCem": "cem.k", "uGil": "gil"}
    members = {
        GENERAL: "uAna uBea uCem uGil",
        CLOSED: "uAna uBea",
        "TALK": "uCem",
        "WHISPER": "uAna",
        "ASIDE": "uBea",
        "LEAKY": "uAna uGil",
        "DMTALK": "uAna uBea",
        DIRECT: "uAna uBea",
        "NEWKIND": "uCem",
    }
    found = [
        {"rid": rid, "u": {"_id": who, "username": people[who]}, "ls": at(5000), "open": True}
        for rid, names in members.items()
        for who in names.split()
    ]
    found[1]["ls"] = at(1.5)  # Bea has not looked at the general one since its second message
    return [*found, {"rid": "", "u": {}}, {"rid": GENERAL, "u": None}]


def said(key: str, who: str, text: str, seconds: float, rid: str = GENERAL, **more: Any) -> Json:
    handles = {
        "uAna": "ana",
        "uBea": "bea",
        "uCem": "cem.k",
        "uGil": "gil",
        "uGone": "gone",
        "rocket.cat": "rocket.cat",
    }
    author = {"_id": who, "username": handles.get(who, who), "name": who}
    return {"_id": key, "rid": rid, "msg": text, "ts": at(seconds), "u": author, "md": [{"type": "PARAGRAPH"}], **more}


NOISE = {
    "uj": 1, "ul": 1, "au": 1, "ru": 1, "r": 1, "room_changed_topic": 1, "subscription-role-added": 1, "user-muted": 1,
    "message_pinned": 1, "discussion-created": 1, "videoconf": 1, "e2e": 1, "user-added-room-to-team": 1, "brand-new": 1,
}  # fmt: skip


def messages() -> list[Json]:
    """In no order: readers trust the times."""
    link = "https://chat.example.com/channel/general?msg=m1"
    plan = {"_id": "fPlan", "name": "plan.txt", "type": "text/plain"}
    return [
        said("m2", "uBea", "second", 1, pinned=True),
        said("m1", "uAna", "first: hello *all* @bea and @nobody :tada: :party_cat:", 0, editedAt=at(3),
             mentions=[{"_id": "uBea", "username": "bea", "type": "user"}],
             reactions={":thumbsup:": {"usernames": ["bea", "cem.k"]}, ":thumbsup_tone2:": {"usernames": ["bea"]},
                        ":party_cat:": {"usernames": ["bea"]}, ":cat:": {"usernames": ["renamed", "ana"]},
                        ":no_such_emoji:": {"usernames": ["ana"]}, "odd": None},
             starred=[{"_id": "uBea"}, {"_id": "uNobody"}], pinned=True, pinnedAt=at(70)),
        said("same", "uBea", "in the same millisecond", 1),
        said("t2", "uBea", "yes", 101, tmid="t1"),
        said("t1", "uAna", "Shall *we* [ship](https://x.org) it?", 100, tcount=2, replies=["uBea"]),
        said("t3", "uCem", "shown to all", 102, tmid="t1", tshow=True),
        said("orphan", "uBea", "lost its root", 110, tmid="never"),
        said("q1", "uBea", f"[ ]({link}) I agree @ana", 111, mentions=[{"_id": "uAna", "username": "ana"}],
             attachments=[{"message_link": link, "author_name": "ana", "text": "first: hello", "ts": at(0)}]),
        said("q2", "uBea", f"see [what Ana said]({link}) in #closed and #unknown", 112,
             channels=[{"_id": CLOSED, "name": "closed"}]),
        said("all", "uAna", "@all @here come", 113, mentions=[{"_id": "all", "username": "all"}]),
        said("f1", "uAna", "", 120, file=plan, files=[plan, {"_id": "fThumb", "name": "thumb-plan.txt"}],
             attachments=[{"title": "plan.txt", "title_link": "/file-upload/fPlan/plan.txt", "type": "file",
                           "description": "with a *caption*"}]),
        said("f2", "uBea", "the same file", 121, files=[plan]),
        said("f3", "uBea", "far away", 122, file={"_id": "fAway", "name": "far.pdf"}),
        said("f4", "uBea", "nothing in it", 123, file={"_id": "fEmpty", "name": "empty.txt"}),
        said("f5", "uBea", "on the disk", 124, file={"_id": "fDisk", "name": "disk.txt"}),
        said("i1", "rocket.cat", "beep", 130, bot={"i": "x"}, alias="CI", attachments=[
            {"title": "Build 7", "title_link": "https://ci.example.com/7", "text": "passed",
             "fields": [{"title": "Branch", "value": "main"}]}]),
        said("gone", "uGone", "before I left", 131),
        said("erased", "uErased", "who was I?", 132),
        said("rm1", "uAna", "", 140, t="rm"),
        said("rm2", "uAna", "", 141, t="rm", tcount=1),
        said("rm3", "uBea", "below what was deleted", 142, tmid="rm2"),
        said("old", "uAna", "an older text", 0, _hidden=True, parent="m1"),
        *(said(f"noise-{kind}", "uAna", "noise", 150 + place, t=kind) for place, kind in enumerate(NOISE)),
        said("long", "uAna", "word " * 5000, 170),
        said("nul", "uAna", "nul \x00 here", 171),
        said("mute", "uAna", "", 172),
        said("twice", "uAna", "twice", 173),
        said("twice", "uAna", "twice", 173),
        said("m1", "uAna", "an id that is taken", 174, rid=CLOSED),
        said("notime", "uAna", "no time", 175) | {"ts": None},
        {"_id": "noroom", "msg": "no room", "ts": at(176), "u": {"_id": "uAna"}},
        {"_id": "nobody", "rid": GENERAL, "msg": "nobody said it", "ts": at(177)},
        said("c1", "uAna", "secret of the closed one", 200, rid=CLOSED),
        said("d1", "uAna", "secret of two", 210, rid=DIRECT, tcount=1),
        said("d2", "uBea", "answer of two", 211, rid=DIRECT, tmid="d1"),
        said("d3", "uBea", "from the twin", 212, rid="TWIN"),
        said("d4", "uAna", "discussed by two", 213, rid="DMTALK"),
        said("d5", "uCem", "an old room", 214, rid="OLDDM"),
        said("d6", "uCem", "note to self", 215, rid="SELF"),
        said("d7", "uCem", "to whom?", 216, rid="EMPTYDM"),
        said("p1", "uCem", "about the plan", 220, rid="TALK"),
        said("p2", "uAna", "in a thread about the plan", 221, rid="TALK", tmid="p1"),
        said("w1", "uAna", "whispered", 222, rid="WHISPER"),
        said("a1", "uBea", "said aside", 223, rid="ASIDE"),
        said("l1", "uGil", "a guest listens", 224, rid="LEAKY"),
        said("v1", "uVisitor", "I need help", 230, rid="LIVE"),
        said("n1", "uCem", "in a new kind", 231, rid="NEWKIND"),
        said("u1", "uBea", "who reads this?", 232, rid="DELETED"),
    ]  # fmt: skip


def workspace() -> Dump:
    """A small one, with something of everything."""
    chunk = {"files_id": "fPlan", "n": 0, "data": b"the "}
    emoji = ObjectId(b"emojiemojiem")
    return Dump(
        {
            "users": users(),
            "rocketchat_room": rooms(),
            "rocketchat_subscription": subscriptions(),
            "rocketchat_message": messages(),
            "rocketchat_uploads": [
                {"_id": "fPlan", "name": "plan.txt", "size": 8, "userId": "uAna", "store": "GridFS:Uploads"},
                {"_id": "fThumb", "name": "thumb-plan.txt", "size": 3, "userId": "uAna", "typeGroup": "thumb"},
                {"_id": "fAway", "name": "far.pdf", "size": 30, "userId": "uBea", "store": "AmazonS3:Uploads"},
                {"_id": "fEmpty", "name": "empty.txt", "size": 0, "userId": "uBea", "store": "GridFS:Uploads"},
                {"_id": "fDisk", "name": "disk.txt", "size": 7, "userId": "uBea", "store": "FileSystem:Uploads"},
            ],
            "rocketchat_uploads.chunks": [
                {"files_id": "fPlan", "n": 1, "data": b"plan"},
                chunk,
                {"n": 0, "data": b"?"},
            ],
            "rocketchat_avatars": [{"_id": "aBea", "userId": "uBea", "name": "bea"}, {"_id": "aRoom", "rid": GENERAL}],
            "rocketchat_avatars.chunks": [{"files_id": "aBea", "n": 0, "data": image(40, 40)}],
            "rocketchat_custom_emoji": [
                {"_id": "e1", "name": "Party.Cat", "aliases": ["party_cat"], "extension": "png"},
                {"_id": "e2", "name": "lost_one", "aliases": [], "extension": "gif"},
            ],
            "custom_emoji.files": [{"_id": emoji, "filename": "Party.Cat.png", "length": 70}],
            "custom_emoji.chunks": [{"files_id": emoji, "n": 0, "data": image(32, 32)}],
            "rocketchat_settings": [{"_id": "SMTP_Password", "value": "hunter2"}],
        }
    )
