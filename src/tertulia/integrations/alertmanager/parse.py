"""A group of alerts, version 4 of the format."""

from tertulia.integrations.alerts import post_of
from tertulia.integrations.model import Delivery, Post

EVENTS = ("firing", "resolved")


def parse(delivery: Delivery) -> Post:
    """One message for the group."""
    return post_of(delivery.payload, EVENTS)
