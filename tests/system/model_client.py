"""A client in plain Python: it holds the state of a registration and applies events to it, as any client would.

It is strict where a client would shrug: an event that changes nothing, repeats, or speaks of something unknown is an
error, because the server promises each change exactly once.
"""

from typing import Any, NamedTuple

Json = dict[str, Any]
GUEST = 600
MUTED, UNMUTED, FOLLOWED = 1, 2, 3
TYPES = {
    *(
        "stream",
        "subscription",
        "default_streams",
        "channel_folders",
        "realm_user_groups",
        "user_topic",
        "muted_topics",
    ),
    *("message", "update_message_flags", "starred_messages", "recent_private_conversations"),
}
"""The parts of the state that are compared here; the others are in people_model.py and own_model.py."""


class Where(NamedTuple):
    """Where an unread message is listed: `pms` by person, `huddles` by people, `streams` by channel and topic."""

    kind: str
    key: Any


class Mismatch(AssertionError):
    """The events do not fit the state."""


class ModelState:
    """What POST /register said, kept current by events. Only what the features so far change is in it."""

    def __init__(self, registered: Json) -> None:
        self.reborn: set[int] = set()
        """Channels that went out of sight and came back: whether one was ever in them is not told."""
        self.stirred: set[int] = set()
        """Channels whose name, privacy or use changed: the lists of topics do not follow that."""
        self.folders = _by(registered["channel_folders"], "id")
        self.defaults: list[int] = registered["realm_default_streams"]
        self.user_id: int = registered["user_id"]
        self.is_guest: bool = registered["is_guest"]
        self.subscriptions = _by(registered["subscriptions"], "stream_id")
        self.unsubscribed = _by(registered["unsubscribed"], "stream_id")
        self.never_subscribed = _by(registered["never_subscribed"], "stream_id")
        self.users = _by(registered["realm_users"], "user_id")
        self.groups = _by(registered["realm_user_groups"], "id")
        self.policies = {(one["stream_id"], one["topic_name"]): one for one in registered["user_topics"]}
        self.muted_topics: list[list[Any]] = registered["muted_topics"]
        self.max_message_id: int = registered["max_message_id"]
        self.unread = unread_of(registered["unread_msgs"])
        self.starred = dict.fromkeys(registered["starred_messages"], True)
        self.recent = {
            tuple(one["user_ids"]): one["max_message_id"] for one in registered["recent_private_conversations"]
        }
        self.has_lost = False
        """Messages were deleted or moved away: which one is the newest now is not told."""
        self._check_count(registered["unread_msgs"]["count"])

    def apply(self, event: Json) -> None:
        """Take one event."""
        handler = getattr(self, f"_{event['type']}")
        handler(event)

    def differences(self, other: "ModelState") -> list[str]:
        """What the other one says differently, in words; empty if they agree."""
        found: list[str] = []
        for name in ("subscriptions", "users", "groups", "folders", "unread", "starred"):
            found += _compare(name, getattr(self, name), getattr(other, name))
        for name in ("unsubscribed", "never_subscribed"):
            ours, theirs = (_but(getattr(state, name), self.reborn) for state in (self, other))
            found += _compare(name, ours, theirs)
        found += _compare("out of them", self._outside(self.reborn), other._outside(self.reborn))
        policies = [_but_first(state.policies, self.stirred) for state in (self, other)]
        found += _compare("policies", *policies)
        # The older list has only what is in sight, and nobody is told that it changed when they come or go.
        mine, fresh = (sorted(one for one in state.muted_topics if one[0] in self._open) for state in (self, other))
        if mine != fresh:
            found.append(f"muted_topics: {mine} against {fresh}")
        if self.max_message_id != other.max_message_id and not (
            self.has_lost and self.max_message_id > other.max_message_id
        ):
            found.append(f"max_message_id: {self.max_message_id} against {other.max_message_id}")
        if not self.has_lost:
            found += _compare("recent", self.recent, other.recent)
        return found

    # Events by type

    def _message(self, event: Json) -> None:
        message = event["message"]
        number = message["id"]
        if message["type"] == "stream":
            channel = self.subscriptions.get(message["stream_id"])
            if channel is None:
                known = self._known(message["stream_id"])
                if known is None or known["invite_only"]:
                    raise Mismatch(f"heard what is said in channel {message['stream_id']}: {known and known['name']}")
                return  # a listener to all public channels: heard, but not received
            if channel["first_message_id"] is None:
                channel["first_message_id"] = number
            where = Where("topic", (message["stream_id"], message["subject"]))
        else:
            people = [person["id"] for person in message["display_recipient"]]
            where = self._direct(people)
            self.recent[tuple(sorted(set(people) - {self.user_id}))] = number
        self.max_message_id = max(self.max_message_id, number)
        if "read" not in event["flags"]:
            self._add_unread(number, where)

    def _update_message(self, event: Json) -> None:
        ids = event["message_ids"]
        if ids != sorted(set(ids)) or event["message_id"] not in ids:
            raise Mismatch(f"not a list of messages: {event}")
        if "orig_subject" not in event:
            return
        channel = event.get("new_stream_id", event["stream_id"])
        where = Where("topic", (channel, event.get("subject", event["orig_subject"])))
        for number in self.unread.keys() & set(ids):
            if self.unread[number] != Where("topic", (event["stream_id"], event["orig_subject"])):
                raise Mismatch(f"message {number} was in {self.unread[number]}, but: {event}")
            if channel in self.subscriptions:
                self.unread[number] = where
            else:
                del self.unread[number]
        if "new_stream_id" in event:
            self.has_lost = True
            if channel in self.subscriptions:
                self.max_message_id = max(self.max_message_id, *ids)

    def _delete_message(self, event: Json) -> None:
        self.has_lost = True
        for number in event.get("message_ids") or [event["message_id"]]:
            self.unread.pop(number, None)
            self.starred.pop(number, None)

    def _is_muted(self, where: Where) -> bool | None:
        """None: an archived channel that this client does not list."""
        if where.kind != "topic":
            return False
        channel = self.subscriptions.get(where.key[0])
        if channel is None or where.key[0] in self.stirred:
            return None
        policy = self.policies.get(where.key, {}).get("visibility_policy")
        return policy == MUTED or (channel["is_muted"] and policy not in (UNMUTED, FOLLOWED))

    def _update_message_flags(self, event: Json) -> None:
        if event["all"] == bool(event["messages"]) or (event["all"] and event["flag"] != "read"):
            raise Mismatch(f"not a change of flags: {event}")
        if event["all"]:
            self.unread.clear()
        if event["flag"] == "starred":
            _toggle(self.starred, event["messages"], adds=event["op"] == "add")
        if event["flag"] != "read":
            return
        for number in event["messages"]:
            if event["op"] == "add":
                if self.unread.pop(number, None) is None:
                    raise Mismatch(f"message {number} became read and was not unread")
            else:
                details = event["message_details"][str(number)]
                self._add_unread(number, where := self._detailed(details))
                if details.get("unmuted_stream_msg", True) is self._is_muted(where):
                    raise Mismatch(f"message {number} is muted or not, but: {event}")

    def _user_topic(self, event: Json) -> None:
        said = {key: value for key, value in event.items() if key not in ("id", "type")}
        key = said["stream_id"], said["topic_name"]
        had = self.policies.pop(key, {"visibility_policy": 0})
        if had["visibility_policy"] == said["visibility_policy"]:
            raise Mismatch(f"a policy did not change: {event}")
        if said["visibility_policy"]:
            self.policies[key] = said

    def _muted_topics(self, event: Json) -> None:
        self.muted_topics = event["muted_topics"]

    @property
    def _open(self) -> set[str]:
        """The names of channels that stay in sight whatever happens."""
        known = [*self.subscriptions.values(), *self.unsubscribed.values(), *self.never_subscribed.values()]
        open_now = [one for one in known if not one["invite_only"] and one["stream_id"] not in self.stirred]
        return {channel["name"] for channel in open_now if not self.is_guest}

    def _subscription(self, event: Json) -> None:
        match event["op"]:
            case "add":
                for channel in event["subscriptions"]:
                    self._join(channel)
            case "remove":
                for channel in event["subscriptions"]:
                    self._leave(channel["stream_id"])
            case "update":
                self._adjust(event)
            case "peer_add" | "peer_remove":
                self._peers(event, 1 if event["op"] == "peer_add" else -1)
            case op:
                raise Mismatch(f"unknown change of a subscription: {op}")

    def _stream(self, event: Json) -> None:
        match event["op"]:
            case "create":
                for channel in event["streams"]:
                    self._appear(channel)
            case "delete":
                for number in event["stream_ids"]:
                    self._vanish(number, for_archiving=event.get("for_archiving", False))
            case "update":
                self._alter(event)
            case op:
                raise Mismatch(f"unknown change of a channel: {op}")

    def _appear(self, channel: Json) -> None:
        number = channel["stream_id"]
        if self._known(number) is not None:
            raise Mismatch(f"channel {number} came to be twice")
        self.reborn.add(number)
        self.stirred.add(number)
        self.never_subscribed[number] = channel

    def _vanish(self, number: int, *, for_archiving: bool) -> None:
        if self._known(number) is None or (number in self.subscriptions and not for_archiving):
            raise Mismatch(f"channel {number} went away, and was unknown or one's own")
        for channels in (self.subscriptions, self.unsubscribed, self.never_subscribed):
            channels.pop(number, None)
        self.stirred.add(number)

    def _alter(self, event: Json) -> None:
        channel = self._known(event["stream_id"])
        if channel is None:
            raise Mismatch(f"an unknown channel changed: {event}")
        if event["property"] == "first_message_id":
            channel["first_message_id"] = event["value"]  # those outside did not hear what it was before
            return
        changes = {event["property"]: event["value"]}
        extra = ("rendered_description", "history_public_to_subscribers", "is_web_public")
        changes |= {name: event[name] for name in extra if name in event}
        if all(channel[name] == value for name, value in changes.items()):
            raise Mismatch(f"nothing changed: {event}")
        if event["name"] != channel["name"]:
            raise Mismatch(f"the channel is called {channel['name']}: {event}")
        if event["property"] in ("name", "invite_only", "is_archived"):
            self.stirred.add(event["stream_id"])
        channel.update(changes)

    def _adjust(self, event: Json) -> None:
        channel = self.subscriptions.get(event["stream_id"])
        if channel is None or event["property"] not in channel:
            raise Mismatch(f"an unknown property, or not of one's own channel: {event}")
        channel[event["property"]] = event["value"]

    def _default_streams(self, event: Json) -> None:
        if self.is_guest or self.defaults == event["default_streams"]:
            raise Mismatch(f"told to a guest, or nothing changed: {event}")
        self.defaults = event["default_streams"]

    def _channel_folder(self, event: Json) -> None:
        match event["op"]:
            case "add" if event["channel_folder"]["id"] not in self.folders:
                self.folders[event["channel_folder"]["id"]] = event["channel_folder"]
            case "update":
                self.folders[event["channel_folder_id"]].update(event["data"])
            case "reorder":
                for place, number in enumerate(event["order"]):
                    self.folders[number]["order"] = place
            case _:
                raise Mismatch(f"not a change of folders: {event}")

    def _realm_user(self, event: Json) -> None:
        person = event["person"]
        known = self.users.get(person["user_id"])
        match event["op"]:
            case "add" if known is None:
                self.users[person["user_id"]] = person
            case "update" if known is not None:
                known.update(person)
            case _:
                raise Mismatch(f"a user came twice, or an unknown one changed: {event}")

    def _user_group(self, event: Json) -> None:
        if event["op"] == "add":
            if event["group"]["id"] in self.groups:
                raise Mismatch(f"a group came twice: {event}")
            self.groups[event["group"]["id"]] = event["group"]
            return
        group = self.groups.get(event["group_id"])
        if group is None:
            raise Mismatch(f"an unknown group changed: {event}")
        match event["op"]:
            case "remove":
                del self.groups[event["group_id"]]
            case "update":
                group.update(event["data"])
            case "add_members" | "remove_members":
                _change(group, "members", event["user_ids"], adds=event["op"] == "add_members")
            case "add_subgroups" | "remove_subgroups":
                _change(group, "direct_subgroup_ids", event["direct_subgroup_ids"], adds=event["op"] == "add_subgroups")
            case op:
                raise Mismatch(f"unknown change of a group: {op}")

    # Their parts

    def _join(self, channel: Json) -> None:
        number = channel["stream_id"]
        if number in self.subscriptions:
            raise Mismatch(f"joined channel {number} twice")
        known = self.unsubscribed.pop(number, None) or self.never_subscribed.pop(number, None)
        if known is None:
            raise Mismatch(f"joined channel {number} without knowing of it")
        if "subscribers" not in known:  # it was not asked for at registration
            channel.pop("subscribers", None)
            channel.pop("partial_subscribers", None)
        self.subscriptions[number] = channel

    def _leave(self, number: int) -> None:
        channel = self.subscriptions.pop(number, None)
        if channel is None:
            raise Mismatch(f"left channel {number} without being in it")
        self.unread = {
            message: where for message, where in self.unread.items() if where.kind != "topic" or where.key[0] != number
        }
        self.unsubscribed[number] = channel  # whoever sees it no longer hears so next

    def _peers(self, event: Json, sign: int) -> None:
        for number in event["stream_ids"]:
            channel = self._known(number)
            if sign > 0 and self.user_id in event["user_ids"]:
                continue  # the subscription that came with it counts them already
            if channel is not None:
                channel["subscriber_count"] += sign * len(event["user_ids"])

    def _outside(self, numbers: set[int]) -> dict[int, Json]:
        """Those of the channels one sees and is not in, without what one had set."""
        found = self.unsubscribed | self.never_subscribed
        return {
            number: {key: value for key, value in found[number].items() if key not in _PERSONAL}
            for number in numbers & found.keys()
        }

    def _check_count(self, count: int) -> None:
        muted = [self._is_muted(where) for where in self.unread.values()]
        if None not in muted and count != muted.count(False):
            raise Mismatch(f"unread_msgs counts {count}, not {muted.count(False)} of {self.unread}")

    def _known(self, number: int) -> Json | None:
        for channels in (self.subscriptions, self.unsubscribed, self.never_subscribed):
            if number in channels:
                return channels[number]
        return None

    def _add_unread(self, number: int, where: Where) -> None:
        if number in self.unread:
            raise Mismatch(f"message {number} became unread twice")
        self.unread[number] = where

    def _direct(self, people: list[int]) -> Where:
        others = sorted(set(people) - {self.user_id})
        if len(others) <= 1:
            return Where("direct", others[0] if others else self.user_id)
        return Where("group", ",".join(map(str, sorted({*people, self.user_id}))))

    def _detailed(self, details: Json) -> Where:
        if details["type"] == "stream":
            return Where("topic", (details["stream_id"], details["topic"]))
        return self._direct(details["user_ids"])


def _change(group: Json, key: str, ids: list[int], *, adds: bool) -> None:
    had, changed = set(group[key]), set(ids)
    if not changed or (had & changed if adds else changed - had):
        raise Mismatch(f"{key} of group {group['id']} were {had}: {changed} cannot {'come' if adds else 'go'}")
    group[key] = sorted(had | changed if adds else had - changed)


def _toggle(flagged: dict[int, bool], ids: list[int], *, adds: bool) -> None:
    for number in ids:
        if (number in flagged) == adds:
            raise Mismatch(f"message {number} has the flag already, or not: {ids}")
        if adds:
            flagged[number] = True
        else:
            del flagged[number]


def unread_of(bundle: Json) -> dict[int, Where]:
    """`unread_msgs`, message by message."""
    found: list[tuple[int, Where]] = []
    for one in bundle["pms"]:
        found += [(number, Where("direct", one["other_user_id"])) for number in one["unread_message_ids"]]
    for one in bundle["huddles"]:
        found += [(number, Where("group", one["user_ids_string"])) for number in one["unread_message_ids"]]
    for one in bundle["streams"]:
        where = Where("topic", (one["stream_id"], one["topic"]))
        found += [(number, where) for number in one["unread_message_ids"]]
    if len(dict(found)) != len(found):
        raise Mismatch(f"a message is listed twice in {bundle}")
    return dict(found)


def _by(records: list[Json], key: str) -> dict[int, Json]:
    found = {record[key]: record for record in records}
    if len(found) != len(records):
        raise Mismatch(f"listed twice: {records}")
    return found


# Whoever is not in a channel does not hear of its first message.
_OUTSIDE = {"first_message_id"}
_UNKNOWABLE = {"unsubscribed": _OUTSIDE, "never_subscribed": _OUTSIDE, "out of them": _OUTSIDE}
_PERSONAL = {
    *("color", "is_muted", "in_home_view", "pin_to_top", "desktop_notifications", "audible_notifications"),
    *("push_notifications", "email_notifications", "wildcard_mentions_notify", "subscribers"),
}


def _compare(name: str, ours: dict[Any, Any], theirs: dict[Any, Any]) -> list[str]:
    found = []
    for key in sorted(ours.keys() | theirs.keys()):
        one, other = ours.get(key), theirs.get(key)
        if one is None or other is None:
            found.append(f"{name}[{key}]: {_short(one)} against {_short(other)}")
        elif isinstance(one, dict) and isinstance(other, dict):
            fields = (one.keys() | other.keys()) - _UNKNOWABLE.get(name, set())
            found += [
                f"{name}[{key}][{field}]: {one.get(field)!r} against {other.get(field)!r}"
                for field in sorted(fields)
                if one.get(field) != other.get(field)
            ]
        elif one != other:
            found.append(f"{name}[{key}]: {one} against {other}")
    return found


def _but(records: dict[int, Json], numbers: set[int]) -> dict[int, Json]:
    return {number: record for number, record in records.items() if number not in numbers}


def _but_first(records: dict[tuple[int, str], Json], numbers: set[int]) -> dict[tuple[int, str], Json]:
    return {key: record for key, record in records.items() if key[0] not in numbers}


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("name", value.get("full_name", value)))
    return "nothing" if value is None else str(value)
