"""The events that the mobile app reads (mobile_app.py)."""

from typing import Any, Literal

import msgspec

from tests.system.mobile_app import Rejected, check
from tests.system.mobile_records import (
    UNSET,
    Channel,
    Digits,
    Emoji,
    EmojiType,
    Flag,
    Folder,
    Json,
    Message,
    MutedUser,
    ProfileField,
    Role,
    Snippet,
    Status,
    Struct,
    Subscription,
    Unset,
    User,
    UserGroup,
)


class Peer(Struct, frozen=True, kw_only=True):
    user_id: int
    email: str


class Details(Struct, frozen=True, kw_only=True):
    type: Literal["stream", "private"]
    mentioned: bool | None = None
    user_ids: list[int] | None = None
    stream_id: int | None = None
    topic: str | None = None


class ProfileChange(Struct, frozen=True, kw_only=True):
    id: int
    value: str | None
    rendered_value: str | None = None


class UserChange(Struct, frozen=True, kw_only=True):
    user_id: int
    full_name: str | Unset = UNSET
    avatar_url: str | Unset | None = UNSET
    avatar_version: int | Unset = UNSET
    timezone: str | Unset = UNSET
    bot_owner_id: int | Unset = UNSET
    role: Role | Unset = UNSET
    delivery_email: str | Unset | None = UNSET
    custom_profile_field: ProfileChange | Unset = UNSET
    new_email: str | Unset = UNSET
    is_active: bool | Unset = UNSET


class Gone(Struct, frozen=True, kw_only=True):
    stream_id: int


def _event(**fields: Any) -> type[msgspec.Struct]:
    kinds = [(name, *kind) if isinstance(kind, tuple) else (name, kind) for name, kind in fields.items()]
    return msgspec.defstruct("Event", [("id", int), ("type", str), *kinds], kw_only=True)


def _maybe(kind: Any) -> tuple[Any, Any]:
    return kind | Unset, UNSET


_group_members = _event(group_id=int, user_ids=list[int])
_subgroups = _event(group_id=int, direct_subgroup_ids=list[int])
_peers = _event(stream_ids=list[int], user_ids=list[int])
_flags = {"flag": Flag, "messages": list[int], "all": bool}
EVENTS: dict[str, type[msgspec.Struct]] = {
    "alert_words": _event(alert_words=list[str]),
    "channel_folder add": _event(channel_folder=Folder),
    "channel_folder reorder": _event(order=list[int]),
    "channel_folder update": _event(channel_folder_id=int, data=Json),
    "custom_profile_fields": _event(fields=list[ProfileField]),
    "delete_message": _event(
        message_ids=list[int], message_type=Literal["stream", "private"], stream_id=_maybe(int), topic=_maybe(str)
    ),
    "heartbeat": _event(),
    "message": _event(message=Message, flags=list[Flag], local_message_id=_maybe(str)),
    "muted_users": _event(muted_users=list[MutedUser]),
    "presence": _event(user_id=int, server_timestamp=float, presence=dict[str, Json]),
    "reaction add": _event(
        user_id=int, emoji_name=str, emoji_code=str, reaction_type=EmojiType, message_id=int, user=Peer
    ),
    "realm_emoji update": _event(realm_emoji=dict[Digits, Emoji]),
    "realm_user add": _event(person=User),
    "realm_user remove": _event(person=msgspec.defstruct("UserId", [("user_id", int)])),
    "realm_user update": _event(person=UserChange),
    "saved_snippets add": _event(saved_snippet=Snippet),
    "saved_snippets update": _event(saved_snippet=Snippet),
    "saved_snippets remove": _event(saved_snippet_id=int),
    "stream create": _event(streams=list[Channel]),
    "stream delete": _event(streams=list[Gone], stream_ids=list[int]),
    "stream update": _event(stream_id=int, name=str, property=str, value=Any, rendered_description=_maybe(str)),
    "submessage": _event(msg_type=Literal["widget"], content=str, message_id=int, sender_id=int, submessage_id=int),
    "subscription add": _event(subscriptions=list[Subscription]),
    "subscription peer_add": _peers,
    "subscription peer_remove": _peers,
    "subscription remove": _event(subscriptions=list[Gone]),
    "subscription update": _event(stream_id=int, property=str, value=bool | str | None),
    "typing start": _event(
        message_type=Literal["direct", "stream"],
        sender=Peer,
        recipients=_maybe(list[Peer]),
        stream_id=_maybe(int),
        topic=_maybe(str),
    ),
    "update_message": _event(
        rendering_only=bool,
        message_id=int,
        message_ids=list[int],
        flags=list[Flag],
        edit_timestamp=int,
        user_id=int | None,
        stream_id=_maybe(int),
        new_stream_id=_maybe(int),
        propagate_mode=_maybe(Literal["change_one", "change_later", "change_all"]),
        orig_subject=_maybe(str),
        subject=_maybe(str),
        content=_maybe(str),
        rendered_content=_maybe(str),
        is_me_message=_maybe(bool),
    ),
    "update_message_flags add": _event(**_flags),
    "update_message_flags remove": _event(**_flags, message_details=_maybe(dict[Digits, Details])),
    "user_group add": _event(group=UserGroup),
    "user_group add_members": _group_members,
    "user_group add_subgroups": _subgroups,
    "user_group remove": _event(group_id=int),
    "user_group remove_members": _group_members,
    "user_group remove_subgroups": _subgroups,
    "user_group update": _event(group_id=int, data=Json),
    "user_settings update": _event(property=str, value=bool | int | str),
    "user_status": msgspec.defstruct(
        "Event", [("id", int), ("user_id", int)], bases=(Status,), kw_only=True, frozen=True
    ),
    "user_topic": _event(stream_id=int, topic_name=str, last_updated=int, visibility_policy=Literal[0, 1, 2, 3]),
}
EVENTS |= {"reaction remove": EVENTS["reaction add"], "typing stop": EVENTS["typing start"]}
_OTHER = _event(op=_maybe(str))
"""An event the app does not read still needs a number, a type and, if there is an op, a text for it."""


def check_event(event: Json) -> str:
    """Decode an event; its type and op."""
    kind = " ".join(filter(None, (event.get("type"), event.get("op"))))
    check(event, EVENTS.get(kind, _OTHER))
    moves = {"orig_subject", "propagate_mode"} & event.keys()
    if event["type"] == "update_message":
        is_move = bool({"subject", "new_stream_id"} & event.keys())
        if (
            bool(moves) != is_move
            or (is_move and len(moves) < 2)
            or ("rendered_content" in event and "is_me_message" not in event)
        ):
            raise Rejected(f"neither a move nor an edit: {event}")
    if kind == "update_message_flags remove" and event["flag"] == "read" and "message_details" not in event:
        raise Rejected(f"no details: {event}")
    return kind
