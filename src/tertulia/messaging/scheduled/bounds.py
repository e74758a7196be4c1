"""How many messages somebody may have waiting."""

from tertulia.kernel.bounds import MAX_ANSWER_BYTES, OF_PERSON, Bound

SCHEDULED = Bound(
    name="scheduled_messages",
    what="scheduled messages, those that failed among them, with those of one's bots",
    of="person",
    limit=1000,
    tables=("scheduled_message",),
    refusal="You have {limit} scheduled messages already: delete some of them.",
    counted=f"scheduled_message where {OF_PERSON}",
)
SCHEDULED_BYTES = Bound(
    name="scheduled_message_bytes",
    what="bytes of scheduled messages, with their HTML; as above",
    of="person",
    limit=MAX_ANSWER_BYTES,
    tables=("scheduled_message",),
    refusal="Your scheduled messages are too long together (limit: {limit} bytes): delete some of them.",
    counted=f"scheduled_message where {OF_PERSON}",
    weight="octet_length(content) + octet_length(rendered)",
)

ALL = (SCHEDULED, SCHEDULED_BYTES)
