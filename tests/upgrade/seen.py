"""What a person sees of their organization, as far as it does not hang on the moment or on the place of the server."""

from typing import Any

import httpx

from tests.harness.server import PLAIN_HTTP

Json = dict[str, Any]
KEYS = (
    *("subscriptions", "unsubscribed", "never_subscribed", "realm_users", "realm_user_groups", "realm_emoji"),
    *("alert_words", "user_topics", "muted_users", "drafts", "saved_snippets", "starred_messages", "unread_msgs"),
    *(
        "user_settings",
        "user_status",
        "scheduled_messages",
        "custom_profile_fields",
        "realm_linkifiers",
        "channel_folders",
    ),
    *("recent_private_conversations", "realm_name", "realm_description", "max_message_id", "realm_default_streams"),
)
PASSING = {
    *("stream_weekly_traffic", "is_recently_active", "timestamp", "presence_enabled"),
    "available_notification_sounds",
}
"""What changes by itself, is offered by the server, or says where it is."""


def seen_by(url: str, email: str, key: str) -> Json:
    """The state of a registration, and all messages."""
    base = f"{url}/api/v1/"
    headers = {"Host": "localhost"}
    with httpx.Client(
        base_url=base, auth=(email, key), headers=headers, timeout=60, trust_env=False, verify=PLAIN_HTTP
    ) as http:
        state = http.post("register").raise_for_status().json()
        asked: Json = {"anchor": "newest", "num_before": 1000, "num_after": 0, "apply_markdown": "true"}
        messages = http.get("messages", params=asked).raise_for_status().json()["messages"]
    assert messages
    return {"state": {name: state[name] for name in KEYS if name in state}, "messages": messages}


def missing(before: Any, now: Any, place: str = "") -> list[str]:
    """What was seen before and is not, or is otherwise, now; what is new is no fault."""
    if isinstance(before, dict) and isinstance(now, dict):
        found = []
        for name, value in before.items():
            if name in PASSING:
                continue
            found += missing(value, now[name], f"{place}.{name}") if name in now else [f"{place}.{name} is gone"]
        return found
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        return [
            fault
            for number, pair in enumerate(zip(before, now, strict=True))
            for fault in missing(*pair, f"{place}[{number}]")
        ]
    return [] if before == now else [f"{place} was {before!r}, is {now!r}"]
