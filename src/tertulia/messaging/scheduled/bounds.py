"""How many messages somebody may have waiting."""

from tertulia.kernel.bounds import MAX_ANSWER_BYTES, Bound

SCHEDULED = Bound(
    name="scheduled_messages",
    what="scheduled messages, those that failed among them",
    of="person",
    limit=1000,
    tables=("scheduled_message",),
    refusal="You have {limit} scheduled messages already: delete some of them.",
    counted="scheduled_message where user_id = $1",
)
SCHEDULED_BYTES = Bound(
    name="scheduled_message_bytes",
    what="bytes of scheduled messages, with their HTML",
    of="person",
    limit=MAX_ANSWER_BYTES,
    tables=("scheduled_message",),
    refusal="Your scheduled messages are too long together (limit: {limit} bytes): delete some of them.",
    counted="scheduled_message where user_id = $1",
    weight="octet_length(content) + octet_length(rendered)",
)

ALL = (SCHEDULED, SCHEDULED_BYTES)
