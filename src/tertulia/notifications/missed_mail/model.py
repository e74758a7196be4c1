"""What mails about missed messages are made of."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from tertulia.notifications.concerns.model import Facts, Trigger
from tertulia.notifications.concerns.places import Spot
from tertulia.organization.realms.settings import RealmFacts
from tertulia.people.preferences.model import UserSettings


class Missed(msgspec.Struct, frozen=True):
    """A message that waits to be told to somebody by mail."""

    user_id: int
    message_id: int
    was_active: bool
    """They were there shortly before it came."""
    edited_at: datetime | None = None
    """It came when it was edited: only then it began to concern them."""

    @property
    def pair(self) -> tuple[int, int]:
        """Whom, and which."""
        return self.user_id, self.message_id


class Candidate(msgspec.Struct, frozen=True):
    """One that was missed, with what is known when the mail is made."""

    facts: Facts
    conversation_id: int
    topic_id: int | None
    sent_at: datetime
    active_at: datetime | None

    @property
    def pair(self) -> tuple[int, int]:
        """Whom, and which."""
        return self.facts.user_id, self.facts.message_id


class Recipient(msgspec.Struct, frozen=True):
    """Who gets the mail."""

    user_id: int
    email: str
    timezone: str
    settings: UserSettings
    realm_id: int
    realm_name: str
    realm_url: str
    realm: RealmFacts
    is_elsewhere: bool
    """The address has accounts in other organizations of this server."""

    @property
    def shows_content(self) -> bool:
        """Whether both allow it."""
        return self.is_content_allowed and self.settings.message_content_in_email_notifications

    @property
    def is_content_allowed(self) -> bool:
        """Whether the organization does."""
        return self.realm.settings.message_content_allowed_in_email_notifications


class Shown(msgspec.Struct, frozen=True):
    """A message in a mail."""

    message_id: int
    sender: str
    rendered: str
    sent_at: datetime


class Talk(msgspec.Struct, frozen=True):
    """Where the messages of a mail are."""

    spot: Spot
    thread: str
    """What all mails about it refer to, and only they. Has no name in it."""
    names: Sequence[str]
    """Of the others in a direct conversation."""


class Batch(msgspec.Struct, frozen=True):
    """What one mail is about: messages of one conversation."""

    trigger: Trigger
    """The most urgent reason among them."""
    first_id: int
    """The oldest message that was missed: the mail's link opens it."""
    context: Sequence[Shown]
    """What was said before."""
    messages: Sequence[Shown]
    more: int
    """How many besides these were missed."""


class MailFailure(msgspec.Struct, frozen=True):
    """An address that refuses mail."""

    user_id: int
    """Whose. The address itself is shown to whom they allow, elsewhere."""
    failures: int
    """How many mails in a row."""
    failing_since: int
    reason: str
    """What the mail server said last."""
    is_stopped: bool
    """Nothing is written to it any more that nobody asked for."""
