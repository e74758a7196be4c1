"""What a client asked of its event queue. Kept in the queue's record, so that any process can serve it."""

from collections.abc import Awaitable, Callable

import msgspec

from tertulia.events.record import Audience


class Capabilities(msgspec.Struct, frozen=True):
    """What a client says it understands; unknown keys are ignored."""

    notification_settings_null: bool
    bulk_message_deletion: bool = False
    user_avatar_url_field_optional: bool = False
    stream_typing_notifications: bool = False
    user_settings_object: bool = False
    linkifier_url_template: bool = False
    user_list_incomplete: bool = False
    include_deactivated_groups: bool = False
    archived_channels: bool = False
    empty_topic_name: bool = False
    simplified_presence_events: bool = False
    individual_emoji_changes: bool = False


class Unsaid(msgspec.Struct, frozen=True):
    """What a bot listens to when it does not say: all public channels, or the messages of one channel only."""

    all_public: bool = False
    channel: str | None = None


class QueueDefaults(msgspec.Struct, frozen=True):
    """Finds that out. Bots are a feature: tied in where the application is put together."""

    of: Callable[[int], Awaitable[Unsaid]]
    """Of a bot, by its id."""


class QueueOptions(msgspec.Struct, frozen=True):
    """The choices of POST /register that shape events."""

    event_types: frozenset[str] | None = None
    apply_markdown: bool = False
    client_gravatar: bool = True
    all_public_channels: bool = False
    capabilities: Capabilities = Capabilities(notification_settings_null=False)
    client: str = ""
    narrow: tuple[tuple[str, str], ...] = ()
    """Of the `message` events only those that match all these pairs of operator and operand."""
    slim_presence: bool = False
    old_names: bool = True
    """Whether older names are sent (compat.py): the setting at registration."""

    def wants(self, type: str) -> bool:
        """Whether events of this type are delivered."""
        return self.event_types is None or type in self.event_types

    def suits(self, to: Audience) -> bool:
        """Whether an event for clients with or without a capability is for this one."""
        if to.instead and self.event_types is not None and to.instead in self.event_types:
            return False
        if to.old and not self.old_names:
            return False
        if to.needs and not getattr(self.capabilities, to.needs, False):
            return False
        return not (to.lacks and getattr(self.capabilities, to.lacks, False))
