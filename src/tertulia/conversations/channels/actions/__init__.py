"""What can be done to channels. Everything here runs in the caller's transaction."""

from tertulia.conversations.channels.actions.create import create_channel
from tertulia.conversations.channels.actions.membership import subscribe, unsubscribe

__all__ = ["create_channel", "subscribe", "unsubscribe"]
