"""What a message is to its reader, as SQL: parts that statements are composed of. As a function: marks.py.

`reader` is whatever holds the reader's id in the statement, a parameter or a column; `message` is the name of a row with the
columns of a message that are asked for. The parts that begin with `select` go into an `exists (...)`; a statement that goes
over many rows ends them with `offset 0`, so that each is a look at an index and never a whole table in a hash.
"""

from tertulia.conversations.read_state.marks import Mark, TopicPolicy, Wildcard

NOT_MUTED_SENDER = "sender_id <> all(array(select muted_id from muted_user where muted_user.user_id = $1))"
"""What a muted user sends counts as read; unmuting somebody marks it read for good. For many messages of the reader $1."""

IS_MUTED = f"""
coalesce(topic_policy.policy = {TopicPolicy.MUTED}
    or (subscription.is_muted and topic_policy.policy not in ({TopicPolicy.UNMUTED}, {TopicPolicy.FOLLOWED})),
    subscription.is_muted, false)
"""
"""The mute rule: the topic is muted, or the channel is and the topic neither unmuted nor followed. On the reader's rows."""


def muting(reader: str, message: str) -> str:
    """That the reader muted the sender: what a muted user sends counts as read."""
    return f"select from muted_user where muted_user.user_id = {reader} and muted_id = {message}.sender_id"


def mark_of(mark: Mark, reader: str, row: str = "message_mark") -> str:
    """Whether a row is this mark of the reader's, on whatever message."""
    return f"{row}.user_id = {reader} and {row}.flag = {mark}"


def marked(mark: Mark, reader: str, message: str) -> str:
    """That the reader has this mark on the message; MENTIONED: it mentions them by name."""
    return f"select from message_mark where {mark_of(mark, reader)} and message_id = {message}.id"


def in_group(message: str) -> str:
    """That the message mentions a group of the reader's, whose groups are `climbed` (organization/groups/webs/statements.py)."""
    return f"select from message_group_mention where message_id = {message}.id and group_id in (select id from climbed)"


def calls(wildcard: Wildcard, message: str) -> str:
    """Whether the message mentions everybody in the channel, or in the topic."""
    return f"{message}.wildcard & {wildcard} > 0"


def participant(reader: str, message: str) -> str:
    """That the reader wrote or reacted in the topic of the message."""
    return f"select from topic_participant where topic_participant.topic_id = {message}.topic_id and user_id = {reader}"


def takes_part(reader: str, message: str, end: str = "") -> str:
    """Whether the reader takes part where the message is; in a direct conversation everybody does."""
    return f"({message}.topic_id is null or exists ({participant(reader, message)}{end}))"


def called(reader: str, message: str, end: str = "") -> str:
    """Whether a wildcard of a received message reaches the reader. `wildcard > 0` is what its index holds."""
    reached = f"{calls(Wildcard.CHANNEL, message)} or {takes_part(reader, message, end)}"
    return f"({message}.wildcard > 0 and ({reached}))"


def is_mention(reader: str, message: str) -> str:
    """Whether a received message mentions the reader, as unread counts know it: wildcards only where nothing is muted.
    The reader's groups are `climbed`."""
    named, group = marked(Mark.MENTIONED, reader, message), in_group(message)
    return f"(exists ({named}) or exists ({group}) or (not {IS_MUTED} and {called(reader, message)}))"
