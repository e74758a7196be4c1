"""How many messages a conversation may have pinned: everybody who opens it gets all of them."""

from tertulia.kernel.bounds import Bound

MOST = 50
REFUSAL = "{limit} messages are pinned here already: unpin one of them."

OF_TOPIC = Bound(
    name="pins_of_topic",
    what="pinned messages; those that come with messages from elsewhere are not refused",
    of="topic",
    limit=MOST,
    tables=("pin",),
    refusal=REFUSAL,
    counted="pin where topic_id = $1",
)
OF_DIRECT = Bound(
    name="pins_of_direct",
    what="pinned messages",
    of="direct conversation",
    limit=MOST,
    tables=("pin",),
    refusal=REFUSAL,
    counted="pin where conversation_id = $1 and topic_id is null",
)

ALL = (OF_TOPIC, OF_DIRECT)
