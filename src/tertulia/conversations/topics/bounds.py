"""For how many topics somebody may decide what they hear of them."""

from tertulia.kernel.bounds import Bound, Otherwise

POLICIES = Bound(
    name="topic_policies",
    what="topics muted, unmuted or followed by hand",
    of="person",
    limit=10000,
    tables=("topic_policy",),
    refusal="You have muted or followed {limit} topics already: reset some of them.",
    counted="topic_policy where user_id = $1",
)
TOPICS = Otherwise(
    tables=("topic",),
    because="one for each name that messages are sent to, or that somebody mutes or follows",
)

ALL = (
    POLICIES,
    TOPICS,
)
