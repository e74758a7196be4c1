"""What an archive holds: one type for each kind of line (pure).

A reader refuses a line with a field that is not here, and a value that does not fit. A later format may add kinds, and fields
that may be left out; whatever else changes takes another number of the format (manifest.py).

No kind has room for a password, a key, a token or HTML: what is not in the form cannot leave with it, nor come by it. Those of an
operator's moving archive are elsewhere (moving.py).
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from tertulia.conversations.read_state.marks import Mark
from tertulia.kernel.auth import Role
from tertulia.kernel.bounds import LONGEST_RETENTION

MOST_ID = 2**53 - 1
"""What every reader of JSON keeps exact."""
END = r"$(?!\n)"
"""Of a pattern: in Python `$` alone is also right before a last line's end."""
Id = Annotated[int, Meta(ge=1, le=MOST_ID)]
Number = Annotated[int, Meta(ge=0, le=MOST_ID)]
MOST_NUMBER = 2**31 - 1
"""Of the messages of one conversation: no conversation has more, and what is counted by them is kept as an integer."""
Place = Annotated[int, Meta(ge=0, le=MOST_NUMBER)]
Order = Annotated[int, Meta(ge=-MOST_NUMBER, le=MOST_NUMBER)]
Name = Annotated[str, Meta(min_length=1, max_length=100)]
ShortName = Annotated[str, Meta(min_length=1, max_length=60)]
Topic = Annotated[str, Meta(max_length=60)]
Content = Annotated[str, Meta(min_length=1, max_length=10_000)]
Text = Annotated[str, Meta(max_length=10_000)]
Description = Annotated[str, Meta(max_length=1024)]
Address = Annotated[str, Meta(min_length=3, max_length=254)]
Url = Annotated[str, Meta(max_length=2000)]
Sum = Annotated[str, Meta(pattern="^[0-9a-f]{64}" + END)]
Flag = Annotated[str, Meta(pattern=f"^({'|'.join(mark.name.lower() for mark in Mark)}){END}")]
Time = Annotated[datetime, Meta(tz=True)]
EmojiKind = Literal["unicode_emoji", "realm_emoji", "service_extra_emoji"]
EmojiName = Annotated[str, Meta(max_length=100)]
EmojiCode = Annotated[str, Meta(max_length=100)]
Numbers = list[tuple[Place, Annotated[int, Meta(ge=0, le=MOST_NUMBER + 1)] | None]]
"""Ranges of the numbers of messages in a conversation: from the first up to, without it, the second; none: without end."""


class Record(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line, or a part of one."""


class Picture(Record, frozen=True, kw_only=True):
    """Bytes that are an entry of their own; its name follows from whose they are (container.py)."""

    bytes: Number
    sha256: Sum


class Domain(Record, frozen=True, kw_only=True):
    domain: Annotated[str, Meta(min_length=1, max_length=253)]
    allow_subdomains: bool = False


class Organization(Record, frozen=True, kw_only=True):
    """The organization itself: the only line of its kind."""

    id: Id
    subdomain: Annotated[str, Meta(pattern="^([a-z0-9][a-z0-9-]{0,38})?" + END)]
    name: Annotated[str, Meta(min_length=1, max_length=40)]
    description: str = ""
    created: Time
    settings: dict[str, Any] = {}
    """What differs from the defaults."""
    user_defaults: dict[str, Any] = {}
    """What a new person's settings are, as far as they differ from the defaults."""
    permissions: dict[str, Id] = {}
    """The group of each permission that differs from the default."""
    domains: list[Domain] = []
    icon: Picture | None = None
    logo: Picture | None = None
    night_logo: Picture | None = None


class Group(Record, frozen=True, kw_only=True):
    """A group of people. `name`: none for one that is only the value of a setting; `role:...` for a system group."""

    id: Id
    name: Name | None = None
    description: Text = ""
    is_deactivated: bool = False
    creator_id: Id | None = None
    created: Time | None = None
    members: list[Id] = []
    subgroups: list[Id] = []
    permissions: dict[str, Id] = {}


class ProfileField(Record, frozen=True, kw_only=True):
    """A field that people fill in."""

    id: Id
    type: Annotated[int, Meta(ge=1, le=8)]
    name: Annotated[str, Meta(min_length=1, max_length=40)]
    hint: Annotated[str, Meta(max_length=80)] = ""
    field_data: Annotated[str, Meta(max_length=20_000)] = ""
    position: Order
    display_in_profile_summary: bool = False
    required: bool = False
    editable_by_user: bool = True
    use_for_user_matching: bool = False


class ProfileValue(Record, frozen=True, kw_only=True):
    field_id: Id
    value: str


class Status(Record, frozen=True, kw_only=True):
    text: Annotated[str, Meta(max_length=60)] = ""
    emoji_name: EmojiName = ""
    emoji_code: EmojiCode = ""
    reaction_type: EmojiKind = "unicode_emoji"


class Muted(Record, frozen=True, kw_only=True):
    user_id: Id
    at: Time


class Bot(Record, frozen=True, kw_only=True):
    """What only a bot has. Where it is called is kept; the token it is called with is not."""

    type: Annotated[int, Meta(ge=1, le=4)]
    role: Role
    owner_id: Id | None = None
    system: Literal["notification"] | None = None
    url: str | None = None
    interface: Literal[1, 2] | None = None
    sending_channel_id: Id | None = None
    register_channel_id: Id | None = None
    all_public_channels: bool = False


class Private(Record, frozen=True, kw_only=True):
    """What is somebody's own, and leaves only if they agree or the operator takes everything."""

    settings: dict[str, Any] = {}
    muted: list[Muted] = []
    alert_words: list[Annotated[str, Meta(min_length=1, max_length=100)]] = []


class Person(Record, frozen=True, kw_only=True):
    """Somebody with an account, or a bot."""

    id: Id
    email: Address | None = None
    """None: they show it to nobody who may have this archive."""
    full_name: Name
    role: Role
    is_active: bool = True
    is_imported_stub: bool = False
    """They have never logged in where the archive comes from: somebody else's export brought them there."""
    joined: Time
    timezone: str = ""
    avatar: Picture | None = None
    status: Status | None = None
    profile: list[ProfileValue] = []
    bot: Bot | None = None
    private: Private | None = None


class Emoji(Record, frozen=True, kw_only=True):
    """A custom emoji."""

    id: Id
    name: Annotated[str, Meta(pattern="^[0-9a-z_-]+" + END, max_length=100)]
    author_id: Id | None = None
    is_deactivated: bool = False
    created: Time
    picture: Picture | None = None
    still: Picture | None = None
    """Of one that moves."""


class Linkifier(Record, frozen=True, kw_only=True):
    """A pattern that becomes a link in texts."""

    id: Id
    pattern: Annotated[str, Meta(min_length=1)]
    url_template: str
    example_input: str | None = None
    reverse_template: str | None = None
    alternative_url_templates: list[str] = []
    position: Order


class Playground(Record, frozen=True, kw_only=True):
    """A place where code of a language is run."""

    id: Id
    name: Annotated[str, Meta(min_length=1, max_length=40)]
    pygments_language: Annotated[str, Meta(min_length=1, max_length=40)]
    url_template: str


class Folder(Record, frozen=True, kw_only=True):
    """A folder of channels."""

    id: Id
    name: ShortName
    description: Description = ""
    position: Order
    creator_id: Id | None = None
    created: Time
    is_archived: bool = False


class Channel(Record, frozen=True, kw_only=True):
    """A channel. It shares its numbers with direct conversations."""

    id: Id
    name: ShortName
    description: Description = ""
    is_private: bool
    is_web_public: bool = False
    history_public_to_subscribers: bool = True
    is_archived: bool = False
    is_default: bool = False
    creator_id: Id | None = None
    created: Time
    message_retention_days: Annotated[int, Meta(ge=-1, le=LONGEST_RETENTION)] | None = None
    topics_policy: Literal["inherit", "allow_empty_topic", "disable_empty_topic", "empty_topic_only"] = "inherit"
    folder_id: Id | None = None
    last_number: Place = 0
    """Of its newest message ever: numbers of deleted ones are not given again."""
    permissions: dict[str, Id] = {}


class Direct(Record, frozen=True, kw_only=True):
    """A set of people who talk directly."""

    id: Id
    participants: Annotated[list[Id], Meta(min_length=1)]
    last_number: Place = 0


class ChannelTopic(Record, frozen=True, kw_only=True):
    """A topic of a channel."""

    id: Id
    channel_id: Id
    name: Topic
    last_number: Place = 0
    """Of its newest message."""
    participants: list[Id] = []
    """Who wrote or reacted in it."""


class Choices(Record, frozen=True, kw_only=True):
    """How somebody wants a channel to look and to be heard; none: as their settings say."""

    color: Annotated[str, Meta(pattern="^#[0-9a-f]{6}" + END)]
    is_muted: bool = False
    pin_to_top: bool = False
    desktop_notifications: bool | None = None
    audible_notifications: bool | None = None
    push_notifications: bool | None = None
    email_notifications: bool | None = None
    wildcard_mentions_notify: bool | None = None


class Subscription(Record, frozen=True, kw_only=True):
    """Somebody who is, or was, in a channel."""

    channel_id: Id
    user_id: Id
    is_active: bool = True
    choices: Choices | None = None


class File(Record, frozen=True, kw_only=True):
    """A file that somebody uploaded. `path`: how texts link it, after `/user_uploads/`."""

    id: Id
    owner_id: Id
    path: Annotated[str, Meta(pattern=r"^[^\x00-\x1f]+" + END, max_length=1000)]
    name: Annotated[str, Meta(min_length=1, max_length=255)]
    content_type: str
    created: Time
    content: Picture | None = None
    """None: it was lost before the archive was made."""


class Reaction(Record, frozen=True, kw_only=True):
    user_id: Id
    emoji_name: EmojiName
    emoji_code: EmojiCode
    reaction_type: EmojiKind = "unicode_emoji"
    at: Time


class Change(Record, frozen=True, kw_only=True):
    """What a message was before. Numbers of changes are one order for messages and topics."""

    id: Id
    user_id: Id | None = None
    at: Time
    content: Content | None = None
    topic: Topic | None = None
    new_topic: Topic | None = None
    channel_id: Id | None = None
    new_channel_id: Id | None = None


class Submessage(Record, frozen=True, kw_only=True):
    """What a widget of a message was told: votes of a poll, tasks of a list."""

    id: Id
    sender_id: Id
    type: str
    content: str
    at: Time


class Message(Record, frozen=True, kw_only=True):
    """A message, with what hangs on it. Conversation by conversation, and in each by `id`."""

    id: Id
    conversation_id: Id
    number: Annotated[int, Meta(ge=1, le=MOST_NUMBER)]
    topic_id: Id | None = None
    sender_id: Id
    sent: Time
    client: Annotated[str, Meta(max_length=30)] = "import"
    content: Content
    arrived: bool = False
    """From another channel, so `number` is not in the order of ids."""
    topic_since: Number = 0
    """Changes of the topic with an id up to this one were before the message came into it."""
    reactions: list[Reaction] = []
    changes: list[Change] = []
    submessages: list[Submessage] = []
    files: list[Id] = []
    hidden_previews: list[Url] = []
    pinned: Time | None = None


class TopicChange(Record, frozen=True, kw_only=True):
    """What happened to all messages of a topic up to `last_number`, except those that came later (`topic_since`)."""

    id: Id
    topic_id: Id
    last_number: Place
    user_id: Id | None = None
    at: Time
    topic: Topic | None = None
    new_topic: Topic | None = None
    channel_id: Id | None = None
    new_channel_id: Id | None = None


class ReadState(Record, frozen=True, kw_only=True):
    """What somebody has read in a conversation, and what was sent while they belonged to it."""

    conversation_id: Id
    user_id: Id
    read: Numbers = []
    history: Numbers = []


class MessageMark(Record, frozen=True, kw_only=True):
    """A flag of somebody's on a message."""

    user_id: Id
    message_id: Id
    flag: Flag


class TopicPolicyRecord(Record, frozen=True, kw_only=True):
    """What somebody decided about a topic."""

    user_id: Id
    topic_id: Id
    policy: Literal["muted", "unmuted", "followed"]
    at: Time


class Draft(Record, frozen=True, kw_only=True):
    """Not sent yet."""

    id: Id
    user_id: Id
    channel_id: Id | None = None
    user_ids: list[Id] | None = None
    topic: Topic = ""
    content: Text
    edited: Time


class Snippet(Record, frozen=True, kw_only=True):
    """A text that somebody keeps for use."""

    id: Id
    user_id: Id
    title: ShortName
    content: Text
    created: Time


class ScheduledMessage(Record, frozen=True, kw_only=True):
    """To be sent later. It shares its numbers with messages."""

    id: Id
    user_id: Id
    channel_id: Id | None = None
    user_ids: list[Id] | None = None
    topic: Topic = ""
    content: Content
    client: Annotated[str, Meta(max_length=30)] = "import"
    read: bool = True
    due: Time
    failed: bool = False


class Reminder(Record, frozen=True, kw_only=True):
    """Of a message, at a time."""

    id: Id
    user_id: Id
    message_id: Id
    note: Annotated[str, Meta(max_length=1000)] = ""
    due: Time


KINDS: dict[str, type[Record]] = {
    "organization": Organization,
    "groups": Group,
    "profile_fields": ProfileField,
    "people": Person,
    "emoji": Emoji,
    "linkifiers": Linkifier,
    "playgrounds": Playground,
    "folders": Folder,
    "channels": Channel,
    "directs": Direct,
    "topics": ChannelTopic,
    "subscriptions": Subscription,
    "files": File,
    "messages": Message,
    "topic_changes": TopicChange,
    "read_states": ReadState,
    "marks": MessageMark,
    "topic_policies": TopicPolicyRecord,
    "drafts": Draft,
    "snippets": Snippet,
    "scheduled_messages": ScheduledMessage,
    "reminders": Reminder,
}
"""In the order in which they are in an archive: what is referred to comes first, except among groups and people."""
