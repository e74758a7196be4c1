"""What people do to channels in the random histories (histories.py): changed, archived, adjusted, sorted into folders."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from tests.system.model_client import Json

if TYPE_CHECKING:
    from tests.system.histories import Person, Realm

HOWS = (
    *("name", "description", "public", "shared", "protected", "protected", "shown", "shown to members", "hidden"),
    *("default", "not default", "send", "retention", "into a folder", "out of a folder", "all at once"),
)
FOLDINGS = ("new", "new", "name", "order", "archive", "back")
ADJUSTMENTS: tuple[tuple[str, object], ...] = (
    *(("is_muted", True), ("is_muted", False), ("in_home_view", True), ("color", "#123456"), ("pin_to_top", True)),
    *(("push_notifications", True), ("push_notifications", None)),
)


@dataclass(frozen=True)
class Alter:
    """The owner changes a channel."""

    channel: int
    how: str
    person: int
    process: int


@dataclass(frozen=True)
class Archive:
    """The owner archives a channel, or takes it back into use."""

    channel: int
    back: bool
    process: int


@dataclass(frozen=True)
class Adjust:
    """Somebody sets a property of their own."""

    channel: int
    adjustment: int
    process: int


@dataclass(frozen=True)
class Fold:
    """The owner makes, changes or orders folders."""

    how: str
    process: int


@dataclass(frozen=True)
class Bring:
    """Somebody subscribes others as well."""

    people: frozenset[int]
    channels: frozenset[int]
    process: int


@dataclass(frozen=True)
class Remove:
    """The owner unsubscribes others."""

    people: frozenset[int]
    channels: frozenset[int]
    process: int


ChannelAct = Alter | Archive | Adjust | Fold | Bring | Remove


async def do(realm: "Realm", person: "Person", act: ChannelAct) -> str:
    match act:
        case Alter():
            return await alter(realm, act)
        case Archive():
            path = f"streams/{realm.channel_id(act.channel)}"
            if act.back:
                return await owner(realm, act.process, "PATCH", path, {"is_archived": "false"})
            return await owner(realm, act.process, "DELETE", path, {})
        case Adjust():
            property, value = ADJUSTMENTS[act.adjustment % len(ADJUSTMENTS)]
            wish = {"stream_id": realm.channel_id(act.channel), "property": property, "value": value}
            data = {"subscription_data": encode([wish])}
            return str(await realm.call(person, act.process, "POST", "users/me/subscriptions/properties", data))
        case Fold():
            return await fold(realm, act)
        case Bring():
            wanted = [{"name": name} for name in realm.channel_names(sorted(act.channels))]
            data = {"subscriptions": encode(wanted), "principals": encode(realm.ids(act.people))}
            return str(await realm.call(person, act.process, "POST", "users/me/subscriptions", data))
        case Remove():
            names = realm.channel_names(sorted(act.channels))
            data = {"subscriptions": encode(names), "principals": encode(realm.ids(act.people))}
            return await owner(realm, act.process, "DELETE", "users/me/subscriptions", data)


async def alter(realm: "Realm", act: Alter) -> str:
    key = realm.channel_key(act.channel)
    path = f"streams/{realm.channels[key]}"
    number = next(realm.founded)
    somebody = {"direct_members": realm.ids([act.person]), "direct_subgroups": []}
    wanted: Json = {
        "name": {"new_name": f"renamed {number}"},
        "description": {"description": f"about {number}"},
        "public": {"is_private": "false"},
        "shared": {"is_private": "true", "history_public_to_subscribers": "true"},
        "protected": {"is_private": "true", "history_public_to_subscribers": "false"},
        "shown": {"can_subscribe_group": encode({"new": somebody})},
        "shown to members": {"can_administer_channel_group": encode({"new": realm.groups["role:members"]})},
        "hidden": {
            "can_subscribe_group": encode({"new": realm.groups["role:nobody"]}),
            "can_administer_channel_group": encode({"new": realm.groups["role:nobody"]}),
        },
        "default": {"is_default_stream": "true"},
        "not default": {"is_default_stream": "false"},
        "send": {"can_send_message_group": encode({"new": realm.groups["role:moderators"]})},
        "retention": {"message_retention_days": str(number)},
        "into a folder": {"folder_id": str((realm.folders or [0])[-1])},
        "out of a folder": {"folder_id": "null"},
        "all at once": {
            "new_name": f"renamed {number}",
            "description": f"about {number}",
            "is_private": "true",
            "can_subscribe_group": encode({"new": somebody}),
        },
    }[act.how]
    if "is_private" in wanted:
        realm.opened_or_closed.add(realm.channels[key])
    body = await realm.call(realm.people[0], act.process, "PATCH", path, wanted)
    if "new_name" in wanted and "refused" not in body:
        realm.called[key] = wanted["new_name"]
    return str(body)


async def fold(realm: "Realm", act: Fold) -> str:
    name = f"folder {next(realm.founded)}"
    if act.how == "new" or not realm.folders:
        data = {"name": name, "description": "of all kinds"}
        body = await realm.call(realm.people[0], act.process, "POST", "channel_folders/create", data)
        realm.folders.append(body["channel_folder_id"])
        return str(body)
    if act.how == "order":
        return await owner(realm, act.process, "PATCH", "channel_folders", {"order": encode(realm.folders[::-1])})
    changes = {"name": {"name": name}, "archive": {"is_archived": "true"}, "back": {"is_archived": "false"}}
    return await owner(realm, act.process, "PATCH", f"channel_folders/{realm.folders[0]}", changes[act.how])


async def owner(realm: "Realm", process: int, method: str, path: str, data: Json) -> str:
    return str(await realm.call(realm.people[0], process, method, path, data))


def encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()
