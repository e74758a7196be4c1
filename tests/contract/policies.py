"""What somebody decided about topics, as their registration says it."""

from tests.harness.talk import Json, Speaker

CAPABLE = {"notification_settings_null": True, "empty_topic_name": True}


def policies(speaker: Speaker, **options: object) -> dict[tuple[int, str], int]:
    """The policies by channel and topic."""
    state = speaker.post("register", event_types=[], fetch_event_types=["user_topic"], **options)
    speaker.delete("events", queue_id=state["queue_id"])
    return {(one["stream_id"], one["topic_name"]): one["visibility_policy"] for one in state["user_topics"]}


def muted(speaker: Speaker) -> list[list[object]]:
    """The older list of muted topics, without the times."""
    state = speaker.post("register", event_types=[], fetch_event_types=["muted_topics"])
    speaker.delete("events", queue_id=state["queue_id"])
    return [[channel, topic] for channel, topic, since in state["muted_topics"] if isinstance(since, int)]


def decide(speaker: Speaker, stream_id: int, topic: str, policy: int) -> Json:
    return speaker.post("user_topics", stream_id=stream_id, topic=topic, visibility_policy=policy)
