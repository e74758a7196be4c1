"""Messages: what is sent, what the log carries, what the API shows."""

from typing import Literal

import msgspec

from tertulia.markup import TopicLink
from tertulia.realms.settings import RealmSettings
from tertulia.uploads.links import Attached


class Person(msgspec.Struct, frozen=True):
    """A participant of a direct conversation, as `display_recipient` lists them."""

    id: int
    email: str
    full_name: str
    is_mirror_dummy: bool = False


class Echo(msgspec.Struct, frozen=True):
    """A client's own name for the message it sends, given back to one queue."""

    queue_id: str
    local_id: str


class MessageSent(msgspec.Struct, frozen=True, omit_defaults=True):
    """The log's event of a message; the numbers are in the record's stamp."""

    sender_id: int
    sender_full_name: str
    sender_email: str
    avatar_url: str
    realm: str
    client: str
    content: str
    rendered: str
    conversation_id: int
    channel: str | None = None
    people: tuple[Person, ...] = ()
    empty_topic: str = ""
    """In a message with the empty topic: how the realm names that topic."""
    read_by: int | None = None
    """For whom the message is born read: its sender, or whoever gave the notification bot the reason to speak."""
    echo: Echo | None = None
    wildcard: int = 0
    """1: everybody in the channel is mentioned; 2: all who take part in the topic."""
    mentioned: tuple[int, ...] = ()
    group_mentioned: tuple[int, ...] = ()
    """Those who are mentioned by a group they are in."""
    hidden_from: tuple[int, ...] = ()
    """Guests who do not see the sender, and where their made-up address is."""
    fake_domain: str = ""
    topic_links: tuple[TopicLink, ...] = ()
    widget: str | None = None
    """What a poll or a list of tasks begins with."""


class Outgoing(msgspec.Struct, frozen=True):
    """A message on its way to the lane."""

    realm_id: int
    conversation_id: int
    sender_id: int
    topic: str | None
    topic_key: str | None
    content: str
    rendered: str
    client: str
    record: str
    """The log's record, JSON, without its stamp."""
    read_by: int | None
    """For whom it is born read."""
    key: str | None
    """The client's Idempotency-Key."""
    settings: RealmSettings = RealmSettings()
    facts: int = 0
    """What it mentions and contains; the bits are those of statements.py."""
    channel_seen: str | None = None
    """What the channel was when the message was judged: if it is another by now, the message is judged again."""
    widget: str | None = None
    mentioned: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    alerting: tuple[str, ...] = ()
    """Alert words in it."""
    webhooks: tuple[int, ...] = ()
    """Bots whose servers are called because of it: mentioned in a channel, or in the direct conversation."""
    may_push: bool = False
    """Whether anybody in the realm ever wanted pushes to a browser."""
    attached: tuple[Attached, ...] = ()
    """Files that it links."""


class Sent(msgspec.Struct, frozen=True):
    """A message that is stored."""

    id: int
    policy: int | None = None
    """The policy its sender has for the topic from now on, if the message changed it."""


class EditEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of `edit_history`."""

    user_id: int | None
    timestamp: int
    prev_content: str | msgspec.UnsetType = msgspec.UNSET
    prev_rendered_content: str | msgspec.UnsetType = msgspec.UNSET
    prev_topic: str | msgspec.UnsetType = msgspec.UNSET
    topic: str | msgspec.UnsetType = msgspec.UNSET
    prev_stream: int | msgspec.UnsetType = msgspec.UNSET
    stream: int | msgspec.UnsetType = msgspec.UNSET


class ReactionRecord(msgspec.Struct, frozen=True):
    """A reaction, as messages show it."""

    emoji_name: str
    emoji_code: str
    reaction_type: str
    user_id: int


class SubmessageRecord(msgspec.Struct, frozen=True):
    """What people did with a widget."""

    id: int
    message_id: int
    sender_id: int
    msg_type: str
    content: str


class MessageRecord(msgspec.Struct, frozen=True, kw_only=True):
    """A message as the API shows it."""

    id: int
    sender_id: int
    sender_full_name: str
    sender_email: str
    sender_realm_str: str
    avatar_url: str | None
    client: str
    content: str
    content_type: str
    type: Literal["stream", "private"]
    stream_id: int | msgspec.UnsetType = msgspec.UNSET
    display_recipient: str | tuple[Person, ...]
    recipient_id: int
    subject: str
    topic_links: tuple[TopicLink, ...] = ()
    timestamp: int
    is_me_message: bool
    reactions: tuple[ReactionRecord, ...] = ()
    submessages: tuple[SubmessageRecord, ...] = ()
    last_edit_timestamp: int | msgspec.UnsetType = msgspec.UNSET
    last_moved_timestamp: int | msgspec.UnsetType = msgspec.UNSET
    edit_history: list[EditEntry] | msgspec.UnsetType = msgspec.UNSET
    flags: list[str] | msgspec.UnsetType = msgspec.UNSET
    match_content: str | msgspec.UnsetType = msgspec.UNSET
    match_subject: str | msgspec.UnsetType = msgspec.UNSET
