"""What people of a town do for themselves: drafts, snippets, what is to be sent, statuses, emoji, linkifiers, presence."""

import struct
import zlib
from typing import Any

from tests.system.model_client import Json
from tests.system.town import Act, Town

FAR_OFF = 4_000_000_000
_LONG_AGO = """
with clock as (update presence_clock set last_id = last_id + 1 where realm_id = $2 returning last_id)
update presence set active_at = active_at - interval '1 hour', connected_at = connected_at - interval '1 hour',
    update_id = last_id
from clock where user_id = $1
"""


async def draft(town: Town, who: int) -> Any:
    to: Json = town.chance.choice([
        {"type": "stream", "to": [town.chance.choice(town.channels)], "topic": "tea"},
        {"type": "private", "to": [town.somebody()], "topic": ""},
        {"type": "", "to": [], "topic": ""},
    ])  # fmt: skip
    new = [to | {"content": f"draft {next(town.numbers)}", "timestamp": 1_700_000_000 + next(town.numbers)}]
    new *= town.chance.choice([1, 1, 2])
    body = await town.call(who, "POST", "drafts", drafts=new)
    town.own.setdefault("drafts", []).extend(body.get("ids", []))
    return body


async def change_draft(town: Town, who: int) -> Any:
    if (number := _one(town, "drafts")) is None:
        return "none yet"
    if town.chance.random() < 0.4:
        return await town.call(who, "DELETE", f"drafts/{number}")
    new = {"type": "", "to": [], "topic": "", "content": f"draft {next(town.numbers)}", "timestamp": 1_700_000_000}
    return await town.call(who, "PATCH", f"drafts/{number}", draft=new)


async def save_snippet(town: Town, who: int) -> Any:
    fields = {"title": f"Title {next(town.numbers)}", "content": "Hello"}
    return _keep(town, "snippets", await town.call(who, "POST", "saved_snippets", **fields), "saved_snippet_id")


async def change_snippet(town: Town, who: int) -> Any:
    if (number := _one(town, "snippets")) is None:
        return "none yet"
    if town.chance.random() < 0.4:
        return await town.call(who, "DELETE", f"saved_snippets/{number}")
    return await town.call(who, "PATCH", f"saved_snippets/{number}", content=f"Hello {town.chance.choice([1, 2])}")


async def schedule(town: Town, who: int) -> Any:
    to: Json = town.chance.choice([
        {"type": "channel", "to": town.chance.choice(town.channels), "topic": "tea"},
        {"type": "direct", "to": [town.somebody()]},
    ])  # fmt: skip
    fields = to | {"content": "Later", "scheduled_delivery_timestamp": FAR_OFF + next(town.numbers)}
    body = await town.call(who, "POST", "scheduled_messages", **fields)
    return _keep(town, "scheduled", body, "scheduled_message_id")


async def reschedule(town: Town, who: int) -> Any:
    if (number := _one(town, "scheduled")) is None:
        return "none yet"
    if town.chance.random() < 0.4:
        return await town.call(who, "DELETE", f"scheduled_messages/{number}")
    fields: Json = town.chance.choice([
        {"content": f"Even **later** {town.chance.choice([1, 2])}"},
        {"scheduled_delivery_timestamp": FAR_OFF + next(town.numbers)},
    ])  # fmt: skip
    return await town.call(who, "PATCH", f"scheduled_messages/{number}", **fields)


async def note(town: Town, who: int) -> Any:
    """A message to oneself, to be reminded of."""
    to = [town.people[who].user_id]
    body = await town.call(who, "POST", "messages", type="direct", to=to, content=f"Note {next(town.numbers)}")
    return _keep(town, f"notes {who}", body, "id")


async def remind(town: Town, who: int) -> Any:
    message = _one(town, f"notes {who}")
    if message is None:
        return await note(town, who)
    fields = {"message_id": message, "scheduled_delivery_timestamp": FAR_OFF, "note": f"note {next(town.numbers)}"}
    return _keep(town, "reminders", await town.call(who, "POST", "reminders", **fields), "reminder_id")


async def change_reminder(town: Town, who: int) -> Any:
    """Drop it, or change or delete what it is about."""
    message, reminder = _one(town, f"notes {who}"), _one(town, "reminders")
    if message is None or reminder is None:
        return "none yet"
    match town.chance.choice(["drop", "edit", "delete"]):
        case "drop":
            return await town.call(who, "DELETE", f"reminders/{reminder}")
        case "edit":
            return await town.call(who, "PATCH", f"messages/{message}", content=f"Note {next(town.numbers)}")
        case _:
            return await town.call(0, "DELETE", f"messages/{message}")


async def set_status(town: Town, who: int) -> Any:
    said: Json = town.chance.choice([
        {"status_text": town.chance.choice(["", "busy", "out"])},
        {"emoji_name": "octopus", "status_text": "in the sea"},
        {"emoji_name": ""},
        {"away": town.chance.random() < 0.5},
    ])  # fmt: skip
    if town.chance.random() < 0.3 and "away" not in said:
        return await town.call(0, "POST", f"users/{town.somebody()}/status", **said)
    return await town.call(who, "POST", "users/me/status", **said)


async def add_emoji(town: Town, who: int) -> Any:
    name = town.chance.choice(["party", "kettle", "spoon"])
    if town.chance.random() < 0.4:
        return await town.call(town.chance.choice([who, 0]), "DELETE", f"realm/emoji/{name}")
    return await town.upload(who, f"realm/emoji/{name}", dot(next(town.numbers)))


async def show_face(town: Town, who: int) -> Any:
    if town.chance.random() < 0.3:
        return await town.call(who, "DELETE", "users/me/avatar")
    return await town.upload(who, "users/me/avatar", dot(next(town.numbers)))


async def decorate(town: Town, _who: int) -> Any:
    who, path = town.chance.choice([0, 1]), town.chance.choice(["realm/icon", "realm/logo?night=true"])
    if town.chance.random() < 0.3:
        return await town.call(who, "DELETE", path)
    return await town.upload(who, path, dot(next(town.numbers)))


async def link(town: Town, _who: int) -> Any:
    number = next(town.numbers)
    fields = {"pattern": f"#L{number}-(?P<id>[0-9]+)", "url_template": f"https://example.com/{number}/{{id}}"}
    return _keep(
        town, "linkifiers", await town.call(town.chance.choice([0, 1]), "POST", "realm/filters", **fields), "id"
    )


async def change_link(town: Town, _who: int) -> Any:
    if (number := _one(town, "linkifiers")) is None:
        return "none yet"
    who = town.chance.choice([0, 1])
    match town.chance.choice(["change", "order", "drop"]):
        case "change":
            template = f"https://example.org/{next(town.numbers)}/{{id}}"
            return await town.call(who, "PATCH", f"realm/filters/{number}", url_template=template)
        case "order":
            order = town.chance.sample(town.own["linkifiers"], len(town.own["linkifiers"]))
            return await town.call(who, "PATCH", "realm/linkifiers", ordered_linkifier_ids=order)
        case _:
            body = await town.call(who, "DELETE", f"realm/filters/{number}")
            if body["result"] == "success":
                town.own["linkifiers"].remove(number)
            return body


async def play(town: Town, _who: int) -> Any:
    who, number = town.chance.choice([0, 1]), _one(town, "playgrounds")
    if number is not None and town.chance.random() < 0.4:
        return await town.call(who, "DELETE", f"realm/playgrounds/{number}")
    fields = {"name": f"Place {next(town.numbers)}", "pygments_language": "python"}
    body = await town.call(who, "POST", "realm/playgrounds", url_template="https://example.com/{code}", **fields)
    return _keep(town, "playgrounds", body, "id")


async def be_there(town: Town, who: int) -> Any:
    """Now and then after a while in which nobody heard of them."""
    if town.chance.random() < 0.5:
        async with town.database.transaction() as tx:
            await tx.execute(_LONG_AGO, town.people[who].user_id, town.realm_id)
    status = town.chance.choice(["active", "idle"])
    return await town.call(who, "POST", "users/me/presence", status=status, ping_only=True)


def dot(number: int) -> bytes:
    """A picture that no other is like."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head, row = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0), b"\0" + number.to_bytes(3, "big")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(row)) + chunk(b"IEND", b"")


def _one(town: Town, kind: str) -> int | None:
    known = town.own.get(kind)
    return town.chance.choice(known) if known else None


def _keep(town: Town, kind: str, body: Json, key: str) -> Json:
    if key in body:
        town.own.setdefault(kind, []).append(body[key])
    return body


OWN_ACTS: list[Act] = [
    draft, change_draft, save_snippet, change_snippet, schedule, reschedule, note, remind, change_reminder, set_status,
    set_status, show_face, show_face, decorate, add_emoji, add_emoji, link, change_link, play, be_there, be_there,
]  # fmt: skip
