"""What people of a town do to each other, to bots, profiles and the organization. Each act answers what it was told."""

from collections.abc import Awaitable, Callable
from typing import Any

from tertulia.conversations.channels.actions import subscribe, unsubscribe
from tests.system.model_client import Json
from tests.system.town import Act, Town, to_json


async def rename(town: Town, _who: int) -> Any:
    return await town.call(0, "PATCH", f"users/{town.somebody()}", full_name=f"Name {next(town.numbers)}")


async def rename_oneself(town: Town, who: int) -> Any:
    return await town.call(who, "PATCH", "settings", full_name=f"Own {next(town.numbers)}")


async def hide(town: Town, who: int) -> Any:
    return await town.call(who, "PATCH", "settings", email_address_visibility=town.chance.choice([1, 2, 3, 4, 5]))


async def travel(town: Town, who: int) -> Any:
    return await town.call(who, "PATCH", "settings", timezone=town.chance.choice(["", "Europe/Madrid", "Asia/Tokyo"]))


async def choose(town: Town, who: int) -> Any:
    chosen = {"color_scheme": town.chance.choice([1, 2, 3]), "enter_sends": town.chance.random() < 0.5}
    return await town.call(who, "PATCH", "settings", **chosen)


async def decide_defaults(town: Town, _who: int) -> Any:
    chosen = {"email_address_visibility": town.chance.choice([1, 3]), "enter_sends": town.chance.random() < 0.5}
    return await town.call(0, "PATCH", "realm/user_settings_defaults", **chosen)


async def decide(town: Town, _who: int) -> Any:
    chosen: Json = town.chance.choice([
        {"name": town.chance.choice(["Town", "City"]), "enable_read_receipts": town.chance.random() < 0.5},
        {"message_content_edit_limit_seconds": town.chance.choice([60, "unlimited"]), "allow_message_editing": False},
        {"topics_policy": town.chance.choice(["allow_empty_topic", "disable_empty_topic"])},
        {"message_edit_history_visibility_policy": town.chance.choice(["all", "none"]), "digest_weekday": 2},
        {"waiting_period_threshold": town.chance.choice([0, 3])},
    ])  # fmt: skip
    chosen = {name: to_json(value) if value == "unlimited" else value for name, value in chosen.items()}
    return await town.call(town.chance.choice([0, 1]), "PATCH", "realm", **chosen)


async def limit(town: Town, _who: int) -> Any:
    return await town.limit() if town.chance.random() < 0.3 else "not this time"


async def add_domain(town: Town, _who: int) -> Any:
    name = town.chance.choice(["example.com", "example.org"])
    op = town.chance.choice(["POST", "PATCH", "DELETE"])
    if op == "POST":
        return await town.call(0, op, "realm/domains", domain=name, allow_subdomains=town.chance.random() < 0.5)
    return await town.call(0, op, f"realm/domains/{name}", allow_subdomains=town.chance.random() < 0.5)


async def change_role(town: Town, _who: int) -> Any:
    target = town.chance.choice(town.people[1:]).user_id
    return await town.call(0, "PATCH", f"users/{target}", role=town.chance.choice([200, 300, 400, 600]))


async def turn_off(town: Town, _who: int) -> Any:
    return await town.call(0, "DELETE", f"users/{town.chance.choice(town.people[2:]).user_id}")


async def turn_on(town: Town, _who: int) -> Any:
    target = town.chance.choice([*(person.user_id for person in town.people[2:]), *town.bots])
    body = await town.call(town.chance.choice([0, 1]), "POST", f"users/{target}/reactivate")
    for number, person in enumerate(town.people):
        if person.user_id == target:
            await town.log_in_again(number)
    return body


async def arrive(town: Town, _who: int) -> Any:
    email, password = f"new{next(town.numbers)}@example.com", "seven copper kettles sing"
    return await town.call(0, "POST", "users", email=email, password=password, full_name="Somebody new")


async def make_bot(town: Town, who: int) -> Any:
    number = next(town.numbers)
    kind: Json = town.chance.choice([{"bot_type": 1}, {"bot_type": 3, "payload_url": '"https://example.com/"'}])
    body = await town.call(who, "POST", "bots", full_name=f"Bot {number}", short_name=f"bot{number}", **kind)
    town.bots += [body["user_id"]] if "user_id" in body else []
    return body


async def change_bot(town: Town, who: int) -> Any:
    if not town.bots:
        return "no bot yet"
    wish: Json = town.chance.choice([
        {"full_name": f"Bot named {next(town.numbers)}"},
        {"bot_owner_id": town.somebody()},
        {"service_payload_url": f'"https://example.com/{next(town.numbers)}"'},
        {"role": town.chance.choice([300, 400, 600])},
    ])  # fmt: skip
    who = town.chance.choice([who, 0])
    return await town.call(who, "PATCH", f"bots/{town.chance.choice(town.bots)}", **wish)


async def drop_bot(town: Town, who: int) -> Any:
    return await town.call(who, "DELETE", f"bots/{town.chance.choice(town.bots)}") if town.bots else "no bot yet"


async def make_field(town: Town, _who: int) -> Any:
    name = f"Field {next(town.numbers)}"
    body = await town.call(1, "POST", "realm/profile_fields", field_type=town.chance.choice([1, 2, 5]), name=name)
    town.fields += [body["id"]] if "id" in body else []
    return body


async def change_field(town: Town, _who: int) -> Any:
    if not town.fields:
        return "no field yet"
    field = town.chance.choice(town.fields)
    if town.chance.random() < 0.3:
        return await town.call(0, "DELETE", f"realm/profile_fields/{field}")
    return await town.call(0, "PATCH", f"realm/profile_fields/{field}", hint=f"Hint {next(town.numbers)}")


async def say(town: Town, who: int) -> Any:
    if not town.fields:
        return "no field yet"
    field = town.chance.choice(town.fields)
    if town.chance.random() < 0.3:
        return await town.call(who, "DELETE", "users/me/profile_data", data=[field])
    said = [{"id": field, "value": f"https://example.com/{next(town.numbers)}"}]
    if town.chance.random() < 0.3:
        return await town.call(0, "PATCH", f"users/{town.somebody()}", profile_data=said)
    return await town.call(who, "PATCH", "users/me/profile_data", data=said)


async def mute(town: Town, who: int) -> Any:
    return await town.call(who, town.chance.choice(["POST", "DELETE"]), f"users/me/muted_users/{town.somebody()}")


async def watch(town: Town, who: int) -> Any:
    words = town.chance.sample(["tea", "coffee", "milk"], 2)
    return await town.call(who, town.chance.choice(["POST", "DELETE"]), "users/me/alert_words", alert_words=words)


async def meet(town: Town, _who: int) -> Any:
    changes: list[Callable[..., Awaitable[Any]]] = [subscribe, unsubscribe]
    change = town.chance.choice(changes)
    people = [person.user_id for person in town.chance.sample(town.people, 2)]
    async with town.database.transaction() as tx:
        return await change(tx, town.realm_id, [town.chance.choice(town.channels)], people)


async def whisper(town: Town, who: int) -> Any:
    return await town.call(who, "POST", "messages", type="direct", to=[town.somebody()], content="Hello")


PEOPLE_ACTS: list[Act] = [
    rename, rename_oneself, hide, travel, choose, decide_defaults, decide, limit, add_domain, change_role, turn_off,
    turn_on, turn_on, arrive, make_bot, make_bot, change_bot, change_bot, drop_bot, make_field, change_field, say, say,
    mute, watch, meet, meet, meet, whisper,
]  # fmt: skip
