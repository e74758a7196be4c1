"""Events that only one's own clients hear."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET

from tertulia.catalogue.base import Event, Unset
from tertulia.drafts.model import Draft
from tertulia.mutes.model import MutedUser
from tertulia.reminders.model import ReminderRecord
from tertulia.scheduled.model import ScheduledRecord
from tertulia.snippets.model import Snippet
from tertulia.topics.model import MutedTopic


class DraftsAddEvent(Event, frozen=True, kw_only=True):
    """Drafts were saved."""

    type: Literal["drafts"]
    op: Literal["add"]
    drafts: list[Draft]


class DraftsUpdateEvent(Event, frozen=True, kw_only=True):
    """A draft was changed."""

    type: Literal["drafts"]
    op: Literal["update"]
    draft: Draft


class DraftsRemoveEvent(Event, frozen=True, kw_only=True):
    """A draft is gone."""

    type: Literal["drafts"]
    op: Literal["remove"]
    draft_id: int


class SavedSnippetsEvent(Event, frozen=True, kw_only=True):
    """A snippet was saved or changed."""

    type: Literal["saved_snippets"]
    op: Literal["add", "update"]
    saved_snippet: Snippet


class SavedSnippetsRemoveEvent(Event, frozen=True, kw_only=True):
    """A snippet is gone."""

    type: Literal["saved_snippets"]
    op: Literal["remove"]
    saved_snippet_id: int


class ScheduledMessagesAddEvent(Event, frozen=True, kw_only=True):
    """Messages are to be sent."""

    type: Literal["scheduled_messages"]
    op: Literal["add"]
    scheduled_messages: list[ScheduledRecord]


class ScheduledMessagesUpdateEvent(Event, frozen=True, kw_only=True):
    """A scheduled message is another one now."""

    type: Literal["scheduled_messages"]
    op: Literal["update"]
    scheduled_message: ScheduledRecord


class ScheduledMessagesRemoveEvent(Event, frozen=True, kw_only=True):
    """A scheduled message was sent, or is not to be sent."""

    type: Literal["scheduled_messages"]
    op: Literal["remove"]
    scheduled_message_id: int


class RemindersAddEvent(Event, frozen=True, kw_only=True):
    """A reminder is to come."""

    type: Literal["reminders"]
    op: Literal["add"]
    reminders: list[ReminderRecord]


class RemindersRemoveEvent(Event, frozen=True, kw_only=True):
    """A reminder came, or is not to come."""

    type: Literal["reminders"]
    op: Literal["remove"]
    reminder_id: int


class UserTopicEvent(Event, frozen=True, kw_only=True):
    """A topic is muted, unmuted, followed, or as its channel."""

    type: Literal["user_topic"]
    stream_id: int
    topic_name: str
    last_updated: int
    visibility_policy: Literal[0, 1, 2, 3]


class MutedTopicsEvent(Event, frozen=True, kw_only=True):
    """All muted topics, for clients that do not ask for `user_topic`."""

    type: Literal["muted_topics"]
    muted_topics: list[MutedTopic]


class MutedUsersEvent(Event, frozen=True, kw_only=True):
    """All muted users."""

    type: Literal["muted_users"]
    muted_users: list[MutedUser]


class AlertWordsEvent(Event, frozen=True, kw_only=True):
    """All alert words."""

    type: Literal["alert_words"]
    alert_words: list[str]


class UserSettingsEvent(Event, frozen=True, kw_only=True):
    """A setting of one's own is another now."""

    type: Literal["user_settings"]
    op: Literal["update"]
    property: str
    value: bool | int | str
    language_name: str | Unset = UNSET


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A file of one's own; of one that is gone only the ID."""

    id: int
    name: str | Unset = UNSET
    path_id: str | Unset = UNSET
    size: int | Unset = UNSET
    create_time: int | Unset = UNSET
    message_ids: list[int] | Unset = UNSET
    messages: list[dict[str, int]] | Unset = UNSET


class AttachmentEvent(Event, frozen=True, kw_only=True):
    """A file is there, is linked by other messages, or is gone."""

    type: Literal["attachment"]
    op: Literal["add", "update", "remove"]
    attachment: Attachment
    upload_space_used: int


class DeviceEvent(Event, frozen=True, kw_only=True):
    """A device that notifications are pushed to."""

    type: Literal["device"]
    op: Literal["add", "update", "remove"]
    device_id: int
    push_key_id: int | Unset | None = UNSET
    push_token_id: str | Unset | None = UNSET
    pending_push_token_id: str | Unset | None = UNSET
    push_token_last_updated_timestamp: int | Unset | None = UNSET
    push_registration_error_code: str | Unset | None = UNSET


class InvitesChangedEvent(Event, frozen=True, kw_only=True):
    """The list of invitations is another now: ask for it again."""

    type: Literal["invites_changed"]


class RealmExportEvent(Event, frozen=True, kw_only=True):
    """All exports of the organization."""

    type: Literal["realm_export"]
    exports: list[dict[str, Any]]


class HeartbeatEvent(Event, frozen=True, kw_only=True):
    """Nothing happened for a while."""

    type: Literal["heartbeat"]
