"""What a message writes."""

from tertulia.kernel.bounds import Otherwise

MESSAGES = Otherwise(
    tables=("message", "message_group_mention", "topic_participant"),
    because="the rate of calls; kept as long as `message_retention_days` says",
)
REQUESTS = Otherwise(
    tables=("sent_request",),
    because="one for each message sent with an `Idempotency-Key`; deleted after a day",
)

ALL = (
    MESSAGES,
    REQUESTS,
)
