"""What public pages are made of."""

from datetime import datetime

import msgspec

from tertulia.organization.realms.queries import Realm

PAGE_MESSAGES = 50
"""Messages on a page of a topic, and in a feed."""
PAGE_BYTES = 256 * 1024
"""Bytes of HTML of these messages: where they are longer, fewer are on the page. Whoever asks has no account, and everybody waits
while a page is made."""
PAGE_TOPICS = 100
"""Topics on a page of a channel."""
LOOKED_AT = 5_000
"""Messages in which these topics are looked for."""
PART_TOPICS = 1_000
"""Topics in one sitemap; with more there is an index of several. 50,000 are allowed; others have their turn after each part."""
PARTS_SECONDS = 600.0
"""So long a process remembers how the topics of an organization were dealt out: to find it out it reads all of them."""


class Site(msgspec.Struct, frozen=True):
    """The organization whose pages are made, and its address."""

    realm: Realm
    url: str


class PublicChannel(msgspec.Struct, frozen=True):
    """A channel that is open to the web."""

    id: int
    name: str
    description: str
    rendered_description: str

    @property
    def path(self) -> str:
        """Where its page is."""
        return f"/public/channels/{self.id}"


class PublicTopic(msgspec.Struct, frozen=True):
    """A topic with messages, in such a channel."""

    id: int
    channel_id: int
    name: str
    last_seq: int
    active: datetime
    """When its newest message was sent."""

    @property
    def path(self) -> str:
        """Where its first page is."""
        return f"/public/channels/{self.channel_id}/topics/{self.id}"


class PublicMessage(msgspec.Struct, frozen=True):
    """A message, and what is shown of who wrote it."""

    id: int
    sent: datetime
    rendered: str
    author: str
    picture: str | None
    """The address of a picture that the author uploaded. One that is drawn has the author's number in its address."""
    topic_name: str

    @property
    def path(self) -> str:
        """Its lasting address: it leads to where the message is now."""
        return f"/public/messages/{self.id}"


class Thread(msgspec.Struct, frozen=True):
    """One page of a topic."""

    channel: PublicChannel
    topic: PublicTopic
    title: str
    opening: PublicMessage
    """The topic's first message, on whatever page."""
    messages: list[PublicMessage]
    start: int | None
    """The message that this page begins with; None: it is the first page."""
    previous: str | None
    next: str | None

    @property
    def path(self) -> str:
        """Where this page is."""
        return self.topic.path if self.start is None else f"{self.topic.path}?start={self.start}"
