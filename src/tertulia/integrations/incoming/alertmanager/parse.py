"""A group of alerts, version 4 of the format."""

from tertulia.integrations.incoming.alerts import post_of
from tertulia.integrations.incoming.model import Delivery, Post

EVENTS = ("firing", "resolved")


def parse(delivery: Delivery) -> Post:
    """One message for the group."""
    return post_of(delivery.payload, EVENTS)
