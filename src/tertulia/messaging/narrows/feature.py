"""What narrows bring to the server."""

from tertulia.events.feature import Feature
from tertulia.messaging.narrows import state, wire

FEATURE = Feature(
    name="narrows",
    wire=wire,
    state=(state.stop_words,),
)
