"""What read state and flags bring to the server."""

from tertulia.conversations.read_state import bounds, state, wire
from tertulia.conversations.read_state.events import FlagsPresenter
from tertulia.events.feature import Feature

FEATURE = Feature(
    name="read_state",
    wire=wire,
    state=(state.newest_message, state.unread_messages, state.starred_messages, state.recent_conversations),
    presenters={"update_message_flags": FlagsPresenter()},
    bounds=bounds.ALL,
)
