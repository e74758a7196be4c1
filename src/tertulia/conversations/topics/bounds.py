"""For how many topics somebody may decide what they hear of them."""

from tertulia.conversations.read_state.marks import TopicPolicy
from tertulia.kernel.bounds import OF_PERSON, Bound, Otherwise

_MUTED = f"topic_policy where policy = {TopicPolicy.MUTED:d} and {OF_PERSON}"
POLICIES = Bound(
    name="topic_policies",
    what="topics muted, unmuted or followed by hand",
    of="person",
    limit=10000,
    tables=("topic_policy",),
    refusal="You have muted or followed {limit} topics already: reset some of them.",
    counted="topic_policy where user_id = $1",
)
# A rename tells each who mutes the topic the whole list of theirs: so many fit into one event, and a rename into one change.
MUTED = Bound(
    name="muted_topics",
    what="muted topics, with those of one's bots",
    of="person",
    limit=5000,
    tables=("topic_policy",),
    refusal="You have muted {limit} topics already: reset some of them.",
    counted=_MUTED,
)
TOPICS = Otherwise(
    tables=("topic",),
    because="one for each name that messages are sent to, or that somebody mutes or follows",
)

ALL = (
    POLICIES,
    MUTED,
    TOPICS,
)
