"""Messages on their way: what is asked for, where it goes, what it becomes, what is sent, and what the log carries."""

import msgspec

from tertulia.content.markup import RemotePicture, TopicLink
from tertulia.events.log.record import Audience
from tertulia.files.uploads.links.actions import Attached
from tertulia.kernel.auth import Caller
from tertulia.messaging.reading.model import Participant
from tertulia.messaging.sending.rules import ToChannel, ToPeople

NOT_BEGUN = 0


class Echo(msgspec.Struct, frozen=True):
    """A client's own name for the message it sends, given back to one queue."""

    queue_id: str
    local_id: str


class SendRequest(msgspec.Struct, frozen=True):
    """What a sender wants to say, and how."""

    address: ToChannel | ToPeople
    content: str
    client: str
    echo: Echo | None = None
    read: bool | None = None
    key: str | None = None
    """The client's Idempotency-Key."""
    read_by: int | None = None
    """Somebody else than the sender for whom it is born read."""
    is_notice: bool = False
    """What the notification bot says changes nobody's policies and is pushed to nobody."""


class Place(msgspec.Struct, frozen=True):
    """A conversation a message may be sent to, and who will hear it."""

    conversation_id: int
    """NOT_BEGUN: a direct conversation that is not there yet."""
    audience: Audience
    channel: str | None = None
    topic: str | None = None
    topic_key: str | None = None
    empty_topic: str = ""
    """If the topic is the empty one: how the realm names it."""
    people: tuple[Participant, ...] = ()
    channel_seen: str | None = None
    """What the channel was when the message was judged: if it has changed since, the message is checked again."""
    hidden_from: tuple[int, ...] = ()
    """Guests who will hear it and do not see the sender."""
    webhooks: tuple[int, ...] = ()
    """Outgoing-webhook bots among the people of a direct conversation."""

    @property
    def is_channel(self) -> bool:
        """A channel, not a set of people."""
        return self.channel is not None


class Composed(msgspec.Struct, frozen=True):
    """A text, rendered, with all that follows from it."""

    content: str
    html: str
    facts: int = 0
    """What it mentions and contains; the bits are those of `Facts`."""
    mentioned: tuple[int, ...] = ()
    groups: tuple[int, ...] = ()
    group_mentioned: tuple[int, ...] = ()
    """Those who are in one of the groups."""
    alerting: tuple[str, ...] = ()
    """Alert words in it."""
    topic_links: tuple[TopicLink, ...] = ()
    widget: str | None = None
    webhooks: tuple[int, ...] = ()
    """Those of the mentioned who are outgoing-webhook bots."""
    attached: tuple[Attached, ...] = ()
    """Files that it links and that its author may share."""
    remote: tuple[RemotePicture, ...] = ()
    """Pictures from elsewhere that it shows."""
    pages: tuple[str, ...] = ()
    """Addresses of which a preview may be made."""


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
    people: tuple[Participant, ...] = ()
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


class Stamp(msgspec.Struct, frozen=True):
    """What the database decided about a message when it was stored. Written by statements.py into the log's record."""

    id: int
    seq: int
    at: int
    topic: str | None = None
    muted_by: tuple[int, ...] = ()
    """Who muted the sender: they have read it."""
    alerted: tuple[int, ...] = ()
    """Who has an alert word in it."""
    participants: tuple[int, ...] = ()
    """Who took part in the topic, if all of them are mentioned."""
    widget_id: int | None = None


class Outgoing(msgspec.Struct, frozen=True):
    """A message on its way to the statement that stores it."""

    sender: Caller
    place: Place
    text: Composed
    sent: MessageSent
    """Who says what where: the row is made of it, and its listeners get it."""
    record: str
    """The same as the log keeps it: JSON, without its stamp."""
    key: str | None
    is_notice: bool

    @property
    def conversation_id(self) -> int:
        """Where it goes."""
        return self.place.conversation_id


class Sent(msgspec.Struct, frozen=True):
    """A message that is stored."""

    id: int
    policy: int | None = None
    """The policy its sender has for the topic from now on, if the message changed it."""
