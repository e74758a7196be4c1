"""What topics bring to the server."""

from tertulia.conversations.topics import bounds, routes, state, wire
from tertulia.conversations.topics.events import TopicPresenter
from tertulia.conversations.topics.listing import routes as listing
from tertulia.events.feature import Feature

FEATURE = Feature(
    name="topics",
    routes=(routes, listing),
    wire=wire,
    state=(state.user_topics, state.muted_topics),
    presenters={"user_topic": TopicPresenter(), "muted_topics": TopicPresenter()},
    bounds=bounds.ALL,
)
