"""What a client knows of what its user keeps (drafts, snippets, what is to be sent), of statuses, emoji, linkifiers and presence.

Strict, as model_client.py is. All that no event can change must be the same in every registration.
"""

from typing import Any

from tests.system.model_client import Json, Mismatch

TYPES = [
    *("drafts", "saved_snippets", "scheduled_messages", "reminders", "user_status"),
    *("realm_emoji", "realm_linkifiers", "realm_playgrounds", "presence"),
]
FIXED = [
    *("realm_embedded_bots", "realm_incoming_webhook_bots", "realm_filters", "stop_words"),
    *("default_stream_groups", "device", "giphy", "klipy", "navigation_views", "onboarding_steps", "realm_billing"),
    *("tenor", "video_calls"),
]
"""Parts that never change."""
OLD_FORMS = ["update_display_settings", "update_global_notifications"]
"""For clients that hear of changes in another form: see tests/contract/test_settings.py."""
CAPABILITIES = {
    "notification_settings_null": True,
    "simplified_presence_events": True,
    "linkifier_url_template": True,
}
_COMPARED = {
    *("drafts", "saved_snippets", "scheduled_messages", "reminders", "user_status", "realm_emoji", "realm_linkifiers"),
    *("presences", "presence_last_update_id", "realm_users", "realm_non_active_users", "realm_bots", "realm_domains"),
    *("custom_profile_fields", "user_settings", "muted_users", "alert_words", "email", "delivery_email", "full_name"),
    *(
        "realm_user_settings_defaults",
        "avatar_url",
        "avatar_url_medium",
        "avatar_source",
        "user_avatar_url_field_optional",
    ),
}
"""Here or in people_model.py."""
_OF_THE_PROCESS = {
    *("queue_id", "last_event_id", "server_timestamp", "realm_url", "realm_uri", "server_generation"),
    *("server_emoji_data_url", "event_queue_longpoll_timeout_seconds", "development_environment"),
}


class OwnModel:
    """One client's knowledge."""

    def __init__(self, registered: Json) -> None:
        self.user_id: int = registered["user_id"]
        self.drafts = _by("id", registered["drafts"])
        self.snippets = _by("id", registered["saved_snippets"])
        self.scheduled = _by("scheduled_message_id", registered["scheduled_messages"])
        self.reminders = _by("reminder_id", _referring(registered["reminders"]))
        self.statuses: Json = registered["user_status"]
        self.emoji: Json = registered["realm_emoji"]
        self.linkifiers: list[Json] = registered["realm_linkifiers"]
        self.playgrounds: list[Json] = registered["realm_playgrounds"]
        self.presences: Json = registered["presences"]
        self.last_presence: int = registered["presence_last_update_id"]
        self.fixed = {
            key: value
            for key, value in registered.items()
            if key not in _COMPARED | _OF_THE_PROCESS and not key.startswith("realm_")
        }
        self.people = {
            str(person["user_id"]) for person in registered["realm_users"] if person["full_name"] != "Unknown user"
        }
        """Whom it has seen all the time. Others who come into sight may ping at the same moment, and that is told later."""

    def apply(self, event: Json) -> None:
        """Take one event."""
        if event["type"] in TYPES:
            getattr(self, f"_{event['type']}")(event)
        elif event["type"] == "realm_user":
            person = event["person"]
            if event["op"] == "remove" or not person.get("is_active", True):
                self.people.discard(str(person["user_id"]))
            if event["op"] == "remove":
                self.statuses.pop(str(person["user_id"]), None)

    def ping(self, answer: Json) -> None:
        """What POST /users/me/presence says."""
        if answer["result"] == "success":
            self.presences |= answer["presences"]
            self.last_presence = answer["presence_last_update_id"]

    def differences(self, other: "OwnModel") -> list[str]:
        """What the other one says differently."""
        found = []
        for name in (
            *("drafts", "snippets", "scheduled", "reminders", "statuses"),
            *("emoji", "linkifiers", "playgrounds", "fixed"),
        ):
            found += _differences(name, getattr(self, name), getattr(other, name))
        people = self.people & other.people - {str(self.user_id)}
        mine, theirs = ({user: one.presences[user] for user in people & one.presences.keys()} for one in (self, other))
        return found + _differences("presences", mine, theirs)

    # Events by type

    def _drafts(self, event: Json) -> None:
        match event["op"]:
            case "add":
                _add(self.drafts, _by("id", event["drafts"]), event)
            case "update":
                _replace(self.drafts, event["draft"]["id"], event["draft"], event)
            case "remove":
                _remove(self.drafts, event["draft_id"], event)

    def _saved_snippets(self, event: Json) -> None:
        match event["op"]:
            case "add":
                _add(self.snippets, _by("id", [event["saved_snippet"]]), event)
            case "update":
                _replace(self.snippets, event["saved_snippet"]["id"], event["saved_snippet"], event)
            case "remove":
                _remove(self.snippets, event["saved_snippet_id"], event)

    def _scheduled_messages(self, event: Json) -> None:
        match event["op"]:
            case "add":
                _add(self.scheduled, _by("scheduled_message_id", event["scheduled_messages"]), event)
            case "update":
                new = event["scheduled_message"]
                _replace(self.scheduled, new["scheduled_message_id"], new, event)
            case "remove":
                _remove(self.scheduled, event["scheduled_message_id"], event)

    def _reminders(self, event: Json) -> None:
        if event["op"] == "add":
            _add(self.reminders, _by("reminder_id", _referring(event["reminders"])), event)
        else:
            _remove(self.reminders, event["reminder_id"], event)

    def _user_status(self, event: Json) -> None:
        known: Json = self.statuses.setdefault(str(event["user_id"]), {})
        known |= {key: value for key, value in event.items() if key not in ("id", "type", "user_id")}
        if not known.get("emoji_name", ""):
            for key in ("emoji_name", "emoji_code", "reaction_type"):
                known.pop(key, None)
        for key in ("status_text", "away"):
            if not known.get(key, True):
                del known[key]
        if not known:
            del self.statuses[str(event["user_id"])]

    def _realm_emoji(self, event: Json) -> None:
        match event["op"]:
            case "update":
                if event["realm_emoji"] == self.emoji:
                    raise Mismatch(f"nothing new: {event}")
                self.emoji = event["realm_emoji"]
            case "add":
                _add(self.emoji, {event["emoji"]["id"]: event["emoji"]}, event)
            case "update_one":
                known = self.emoji.get(event["emoji_id"])
                if known is None or known | event["data"] == known:
                    raise Mismatch(f"unknown, or nothing new: {event}")
                known |= event["data"]

    def _realm_linkifiers(self, event: Json) -> None:
        if event["realm_linkifiers"] == self.linkifiers:
            raise Mismatch(f"nothing new: {event}")
        self.linkifiers = event["realm_linkifiers"]

    def _realm_playgrounds(self, event: Json) -> None:
        if event["realm_playgrounds"] == self.playgrounds:
            raise Mismatch(f"nothing new: {event}")
        self.playgrounds = event["realm_playgrounds"]

    def _presence(self, event: Json) -> None:
        self.presences |= event["presences"]


def _by(key: str, listed: list[Json]) -> dict[Any, Json]:
    found = {one[key]: one for one in listed}
    if len(found) != len(listed):
        raise Mismatch(f"listed twice: {listed}")
    return found


def _add(known: dict[Any, Json], new: dict[Any, Json], event: Json) -> None:
    if known.keys() & new.keys() or not new:
        raise Mismatch(f"came twice: {event}")
    known |= new


def _replace(known: dict[Any, Json], key: object, new: Json, event: Json) -> None:
    if key not in known or known[key] == new:
        raise Mismatch(f"unknown, or nothing new ({known.get(key)}): {event}")
    known[key] = new


def _remove(known: dict[Any, Json], key: object, event: Json) -> None:
    if key not in known:
        raise Mismatch(f"unknown: {event}")
    del known[key]


def _differences(name: str, ours: Any, theirs: Any) -> list[str]:
    if ours == theirs:
        return []
    if not isinstance(ours, dict):
        return [f"{name}: {ours} against {theirs}"]
    keys = [key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key)]
    return [f"{name}[{key}]: {ours.get(key)} against {theirs.get(key)}" for key in keys]


def _referring(reminders: list[Json]) -> list[Json]:
    """Reminders without what they show of their message: that is heard of by the events of the message."""
    shown = ("content", "rendered_content")
    return [{key: value for key, value in one.items() if key not in shown} for one in reminders]
