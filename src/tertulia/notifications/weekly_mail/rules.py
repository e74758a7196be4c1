"""Which topics a digest tells of (pure)."""

from collections.abc import Sequence

from tertulia.notifications.weekly_mail.model import Busy

TOPICS = 4
BY_PEOPLE = 2
"""So many of them because many people took part; the others because much was said."""


def choose(topics: Sequence[Busy]) -> list[Busy]:
    """Those that are told of, the liveliest first."""
    lively = sorted(topics, key=lambda one: (-one.people, -one.messages, one.topic_id))[:BY_PEOPLE]
    rest = [one for one in topics if one not in lively]
    return lively + sorted(rest, key=lambda one: (-one.messages, -one.people, one.topic_id))[: TOPICS - BY_PEOPLE]
