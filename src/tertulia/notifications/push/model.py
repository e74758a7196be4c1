"""Subscriptions of browsers, and what is pushed to them."""

import msgspec


class Subscription(msgspec.Struct, frozen=True):
    """A browser that wants pushes, as its owner sees it."""

    id: int
    service: str
    """The host of the push service."""
    created: int
    is_current: bool
    """Whether it was made by the login that asks."""


class Push(msgspec.Struct, frozen=True):
    """A push that is to be sent, with all that it takes."""

    subscription_id: int
    endpoint: str
    public_key: bytes
    auth_secret: bytes
    """As it is stored: sealed."""
    user_id: int
    subdomain: str
    message_id: int
    trigger: str
    attempts: int
    """Including the one under way."""
    is_failing: bool
    """Whether the push service did not take the last one."""
    is_wanted: bool
    """Whether it concerns the user still, who has not read it yet and is not active."""
    shows_direct: bool
    """Whether the text of direct messages may be shown."""
    sender_id: int
    sender_full_name: str
    sender_is_hidden: bool
    """Whether the user is a guest who does not see the sender."""
    rendered: str
    sent_at: int
    channel_id: int | None
    channel: str | None
    topic: str | None
    participants: list[int] | None
    realm_id: int
    empty_topic: str
    """How the realm names the empty topic."""
    language: str
    """Of the user."""


class Address(msgspec.Struct, frozen=True):
    """Where one browser is pushed to."""

    subscription_id: int
    endpoint: str
    public_key: bytes
    auth_secret: bytes
    """As it is stored: sealed."""


class Declared(msgspec.Struct, frozen=True):
    """A notification as a browser shows it by itself."""

    title: str
    navigate: str
    """Where a click leads: a whole address."""
    body: str
    tag: str
    lang: str
    data: dict[str, object]


class Payload(msgspec.Struct, frozen=True):
    """What the browser's service worker gets."""

    type: str
    message_id: int
    trigger: str
    realm_url: str
    user_id: int
    sender_id: int
    sender_full_name: str
    icon: str
    """Path of the sender's picture."""
    timestamp: int
    url: str
    """Where a click leads: a hash of the web client."""
    tag: str
    """Notifications of one conversation replace each other."""
    channel_id: int | None
    channel: str | None
    topic: str | None
    content: str | None
    """As it reads, without markup; null if it is not to be shown."""
    words: dict[str, str]
    """What its buttons say, in the user's language."""
    web_push: int | msgspec.UnsetType = msgspec.UNSET
    """8030 makes it a declarative push: a browser that knows those shows `notification` even if our script fails."""
    mutable: bool | msgspec.UnsetType = msgspec.UNSET
    notification: Declared | msgspec.UnsetType = msgspec.UNSET


class TestPayload(msgspec.Struct, frozen=True):
    """What a person sends to their own browser, to see whether it arrives."""

    user_id: int
    realm_url: str
    notification: Declared
    type: str = "test"
    web_push: int = 8030
    mutable: bool = True
