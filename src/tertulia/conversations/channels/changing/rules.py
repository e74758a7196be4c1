"""Pure decisions about changing a channel."""

from typing import Any

import msgspec

from tertulia.conversations.channels.model import ChannelRecord, RuledChannel
from tertulia.conversations.channels.words import Kind, kind_of
from tertulia.kernel.errors import Refusal
from tertulia.organization.groups.values import ChangedValue

NEEDS_CONTENT_ACCESS = ("can_add_subscribers_group", "can_subscribe_group")
"""Settings that open what is said: whoever cannot read it cannot let others read it, nor themselves."""

DERIVED = ("subscriber_count", "first_message_id", "is_recently_active", "stream_weekly_traffic", "is_archived")
"""Parts of a channel's record that other events tell of, or time changes."""
PRIVACY = ("invite_only", "history_public_to_subscribers", "is_web_public")


class Given(msgspec.Struct, frozen=True):
    """A value that was sent, null too."""

    value: Any


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody wants a channel to be; None means as it is."""

    new_name: str | None = None
    description: str | None = None
    is_private: bool | None = None
    is_web_public: bool | None = None
    history_public_to_subscribers: bool | None = None
    is_default_stream: bool | None = None
    message_retention_days: int | str | None = None
    topics_policy: str | None = None
    folder_id: Given | None = None
    is_archived: bool | None = None
    settings: dict[str, ChangedValue] = {}


class Privacy(msgspec.Struct, frozen=True):
    """One of four: web-public, public, private with shared history, private with protected history."""

    invite_only: bool
    history_public_to_subscribers: bool
    is_web_public: bool

    @property
    def kind(self) -> Kind:
        """By which words know it."""
        return kind_of(
            is_web_public=self.is_web_public, is_private=self.invite_only, shares=self.history_public_to_subscribers
        )

    @property
    def is_possible(self) -> bool:
        """Whether it is one of the four."""
        return (self.history_public_to_subscribers or self.invite_only) and not (
            self.is_web_public and self.invite_only
        )


def privacy_of(channel: RuledChannel | ChannelRecord) -> Privacy:
    """What a channel is."""
    return Privacy(channel.invite_only, channel.history_public_to_subscribers, channel.is_web_public)


def privacy_after(current: Privacy, plan: Plan) -> Privacy:
    """What a channel becomes; refuses what is none of the four.

    A channel that is made private is not open to the web, and its history is protected unless somebody says otherwise;
    one that is opened to the web is not private.
    """
    private, web, history = plan.is_private, plan.is_web_public, plan.history_public_to_subscribers
    if private is None:
        private = False if web else current.invite_only
    if web is None:
        web = current.is_web_public and not private
    if history is None:
        is_new_kind = private != current.invite_only
        history = not private if is_new_kind or not private else current.history_public_to_subscribers
    wanted = Privacy(private, history, web)
    if not wanted.is_possible:
        raise Refusal(
            "A channel is web-public, public, private with shared history, or private with protected history."
        )
    return wanted


def right_to_make(before: Privacy, after: Privacy) -> str | None:
    """The permission of the organization that a change of privacy needs: that to make such a channel."""
    if after.is_web_public and not before.is_web_public:
        return "can_create_web_public_channel_group"
    if after.invite_only == before.invite_only:
        return None
    return "can_create_private_channel_group" if after.invite_only else "can_create_public_channel_group"


def check_content_access(channel: RuledChannel) -> None:
    """Refuse those who may administer a channel that they cannot read."""
    if not channel.may_read:
        raise Refusal("This change needs access to what is said in the channel.")


def differences(before: ChannelRecord, after: ChannelRecord) -> list[dict[str, Any]]:
    """The events' keys for everything that is different, the name first: each event says the name as it was then."""
    names = [name for name in ("name", *ChannelRecord.__struct_fields__) if name not in DERIVED]
    changed = [name for name in dict.fromkeys(names) if getattr(before, name) != getattr(after, name)]
    said: list[dict[str, Any]] = []
    if any(name in PRIVACY for name in changed):
        changed = [*(name for name in changed if name not in PRIVACY), "invite_only"]
    for name in changed:
        if name == "rendered_description":
            continue
        old_name = before.name if name == "name" else after.name
        event = {"property": name, "value": getattr(after, name), "stream_id": after.stream_id, "name": old_name}
        if name == "description":
            event["rendered_description"] = after.rendered_description
        if name == "invite_only":
            event |= {key: getattr(after, key) for key in PRIVACY[1:]}
        said.append(event)
    return said
