"""Parts that the statements about unread messages share. `$1` is the reader."""

NOT_MUTED_SENDER = "sender_id <> all(array(select muted_id from muted_user where muted_user.user_id = $1))"
"""What a muted user sends counts as read; unmuting somebody marks it read for good."""

IS_MUTED = """
coalesce(topic_policy.policy = 1 or (subscription.is_muted and topic_policy.policy not in (2, 3)), subscription.is_muted,
    false)
"""
"""The mute rule: the topic is muted, or the channel is and the topic neither unmuted nor followed."""

PERSONAL = "select from message_mark where user_id = $1 and flag = 3 and message_id = {message}.id"
IN_GROUP = "select from message_group_mention where message_id = {message}.id and is_group_member($1, group_id)"
TOPIC_CALL = "select from topic_participant where topic_id = {message}.topic_id and user_id = $1"


def is_mention(message: str, is_muted: str) -> str:
    """Whether a received message mentions the reader, as unread counts know it: wildcards only where nothing is muted."""
    personal, group, call = (part.format(message=message) for part in (PERSONAL, IN_GROUP, TOPIC_CALL))
    return f"""
    (exists ({personal}) or exists ({group}) or (
        {message}.wildcard > 0 and not {is_muted}
        and ({message}.wildcard & 1 = 1 or {message}.topic_id is null or exists ({call}))
    ))
    """
