"""The methods of `zulip.Client` 0.9.1, each with a call that makes sense, in an order in which they build on each other."""

import base64
from collections.abc import Callable
from pathlib import Path

from tests.clients.program import Calls
from tests.harness.stage import Stage
from tests.harness.talk import Json, unique

LOOPS = {
    "call_endpoint",
    "call_on_each_event",
    "call_on_each_message",
    "do_api_query",
    "ensure_session",
    "get_user_agent",
}
"""What is no call of the API by itself: tested by its use."""
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
THUMB = {"emoji_name": "+1", "emoji_code": "1f44d", "reaction_type": "unicode_emoji"}


class Scene:
    """An owner and a bot who call, somebody they talk about, and two channels."""

    def __init__(self, stage: Stage, owner: Calls, bot: Calls, folder: Path) -> None:
        self.owner, self.bot = owner, bot
        self.somebody = stage.user()
        me = stage.speaker(stage.server.owner)
        self.channel, self.other, self.doomed = stage.channel(me), stage.channel(me), stage.channel(me)
        self.me = me.id
        self.message = me.send(self.channel.name, "lunch", "Soup")
        self.picture = folder / "picture.png"
        self.picture.write_bytes(PICTURE)
        self.name = unique("thing").replace(" ", "_")
        self.queue = self.group = self.field = self.filter = 0

    def reaction(self) -> Json:
        return {"message_id": self.message, **THUMB}

    def keep(self, name: str, answer: Json, key: str) -> Json:
        """Remember what a later call needs."""
        setattr(self, name, answer.get(key))
        return answer


METHODS: dict[str, Callable[[Scene], Json]] = {
    "get_server_settings": lambda it: it.owner.get_server_settings(),
    "get_profile": lambda it: it.owner.get_profile(),
    # Messages
    "send_message": lambda it: it.owner.send_message(
        {"type": "stream", "to": it.channel.name, "topic": "lunch", "content": "Bread"}
    ),
    "get_messages": lambda it: it.owner.get_messages(
        {"anchor": "newest", "num_before": 5, "num_after": 0, "narrow": [["stream", it.channel.name]]}
    ),
    "get_raw_message": lambda it: it.owner.get_raw_message(it.message),
    "update_message": lambda it: it.owner.update_message({"message_id": it.message, "content": "Soup, hot"}),
    "get_message_history": lambda it: it.owner.get_message_history(it.message),
    "render_message": lambda it: it.owner.render_message({"content": "**bold**"}),
    "check_messages_match_narrow": lambda it: it.owner.check_messages_match_narrow(
        msg_ids=[it.message], narrow=[{"operator": "topic", "operand": "lunch"}]
    ),
    "update_message_flags": lambda it: it.owner.update_message_flags(
        {"messages": [it.message], "op": "add", "flag": "starred"}
    ),
    "add_reaction": lambda it: it.owner.add_reaction(it.reaction()),
    "remove_reaction": lambda it: it.owner.remove_reaction(it.reaction()),
    "set_typing_status": lambda it: it.owner.set_typing_status({"op": "start", "to": [it.somebody.user_id]}),
    "mark_topic_as_read": lambda it: it.owner.mark_topic_as_read(it.channel.stream_id, "lunch"),
    "mark_stream_as_read": lambda it: it.owner.mark_stream_as_read(it.channel.stream_id),
    "mark_all_as_read": lambda it: it.owner.mark_all_as_read(),
    "move_topic": lambda it: it.owner.move_topic(it.channel.name, it.other.name, "lunch", "dinner"),
    "delete_message": lambda it: it.owner.delete_message(it.message),
    "upload_file": lambda it: it.owner.upload_file({"file": str(it.picture)}),
    "get_attachments": lambda it: it.owner.get_attachments(),
    # Events
    "register": lambda it: it.keep("queue", it.owner.register(["message"]), "queue_id"),
    "get_events": lambda it: it.owner.get_events(queue_id=it.queue, last_event_id=-1, dont_block=True),
    "deregister": lambda it: it.owner.deregister(it.queue),
    # Channels
    "get_streams": lambda it: it.owner.get_streams(),
    "get_stream_id": lambda it: it.owner.get_stream_id(it.channel.name),
    "get_stream_topics": lambda it: it.owner.get_stream_topics(it.other.stream_id),
    "get_stream_email_address": lambda it: it.owner.get_stream_email_address(it.channel.stream_id),
    "get_subscribers": lambda it: it.owner.get_subscribers(stream=it.channel.name),
    "get_subscriptions": lambda it: it.owner.get_subscriptions(),
    "list_subscriptions": lambda it: it.owner.list_subscriptions(),
    "add_subscriptions": lambda it: it.owner.add_subscriptions(
        [{"name": it.name, "description": "New"}], principals=[it.somebody.user_id]
    ),
    "get_subscription_status": lambda it: it.owner.get_subscription_status(it.somebody.user_id, it.channel.stream_id),
    "update_subscription_settings": lambda it: it.owner.update_subscription_settings(
        [{"stream_id": it.channel.stream_id, "property": "color", "value": "#f00f00"}]
    ),
    "mute_topic": lambda it: it.owner.mute_topic({"stream": it.other.name, "topic": "dinner", "op": "add"}),
    "remove_subscriptions": lambda it: it.owner.remove_subscriptions([it.name], [it.somebody.user_id]),
    "update_stream": lambda it: it.owner.update_stream({"stream_id": it.channel.stream_id, "description": "Changed"}),
    "add_default_stream": lambda it: it.owner.add_default_stream(it.other.stream_id),
    "delete_stream": lambda it: it.owner.delete_stream(it.doomed.stream_id),
    # People
    "get_users": lambda it: it.owner.get_users(),
    "get_members": lambda it: it.owner.get_members({"include_custom_profile_fields": True}),
    "get_user_by_id": lambda it: it.owner.get_user_by_id(it.somebody.user_id, include_custom_profile_fields=True),
    "create_user": lambda it: it.owner.create_user(
        {
            "email": f"{it.name}@example.com",
            "password": "four words in here",
            "full_name": "Somebody",
            "short_name": "some",
        }
    ),
    "update_user_by_id": lambda it: it.owner.update_user_by_id(it.somebody.user_id, full_name="Other Name"),
    "deactivate_user_by_id": lambda it: it.owner.deactivate_user_by_id(it.somebody.user_id),
    "reactivate_user_by_id": lambda it: it.owner.reactivate_user_by_id(it.somebody.user_id),
    "update_presence": lambda it: it.owner.update_presence({"status": "active", "new_user_input": True}),
    "get_user_presence": lambda it: it.bot.get_user_presence(it.owner.get_profile()["email"]),
    "get_realm_presence": lambda it: it.owner.get_realm_presence(),
    "update_notification_settings": lambda it: it.owner.update_notification_settings(
        {"enable_offline_push_notifications": True}
    ),
    "add_alert_words": lambda it: it.owner.add_alert_words(["soup"]),
    "get_alert_words": lambda it: it.owner.get_alert_words(),
    "remove_alert_words": lambda it: it.owner.remove_alert_words(["soup"]),
    # Groups
    "create_user_group": lambda it: it.owner.create_user_group(
        {"name": it.name, "description": "New", "members": [it.me]}
    ),
    "get_user_groups": lambda it: found_group(it, it.owner.get_user_groups()),
    "update_user_group": lambda it: it.owner.update_user_group(
        {"group_id": it.group, "name": f"{it.name}2", "description": "Changed"}
    ),
    "update_user_group_members": lambda it: it.owner.update_user_group_members(
        it.group, {"add": [it.somebody.user_id], "delete": [it.me]}
    ),
    "remove_user_group": lambda it: it.owner.remove_user_group(it.group),
    # The organization
    "upload_custom_emoji": lambda it: it.owner.upload_custom_emoji(it.name, {"file": str(it.picture)}),
    "get_realm_emoji": lambda it: it.owner.get_realm_emoji(),
    "delete_custom_emoji": lambda it: it.owner.delete_custom_emoji(it.name),
    "add_realm_filter": lambda it: it.keep(
        "filter", it.owner.add_realm_filter("#(?P<id>[0-9]+)", "https://example.com/{id}"), "id"
    ),
    "get_realm_linkifiers": lambda it: it.owner.get_realm_linkifiers(),
    "remove_realm_filter": lambda it: it.owner.remove_realm_filter(it.filter),
    "create_realm_profile_field": lambda it: it.keep(
        "field", it.owner.create_realm_profile_field(name=it.name[:20], hint="Number", field_type=1), "id"
    ),
    "get_realm_profile_fields": lambda it: it.owner.get_realm_profile_fields(),
    "update_realm_profile_field": lambda it: it.owner.update_realm_profile_field(it.field, hint="Another"),
    "reorder_realm_profile_fields": lambda it: it.owner.reorder_realm_profile_fields(
        order=[field["id"] for field in it.owner.get_realm_profile_fields()["custom_fields"]]
    ),
    "remove_realm_profile_field": lambda it: it.owner.remove_realm_profile_field(it.field),
    # Bots
    "update_storage": lambda it: it.bot.update_storage({"storage": {"entry": "value"}}),
    "get_storage": lambda it: it.bot.get_storage({"keys": ["entry"]}),
}


def found_group(it: Scene, answer: Json) -> Json:
    it.group = next(group["id"] for group in answer["user_groups"] if group["name"] == it.name)
    return answer
