"""A group of alerts, version 4 of the format."""

import msgspec

from tertulia.integrations.alerts import Alert, tell, title_of
from tertulia.integrations.model import Delivery, Post
from tertulia.integrations.refusals import anomalous, read


class Group(msgspec.Struct, rename="camel"):
    """What is posted."""

    alerts: list[Alert]
    status: str = "firing"
    group_labels: dict[str, str] = {}
    common_labels: dict[str, str] = {}


EVENTS = ("firing", "resolved")


def parse(delivery: Delivery) -> Post:
    """One message for the group, in the topic of the group's name."""
    group = read(delivery.payload, Group)
    said = tell(group.alerts)
    if not said or group.status not in EVENTS:
        raise anomalous()
    named = group.common_labels if group.common_labels.get("alertname") else group.group_labels
    return Post(group.status, title_of(named), said)
