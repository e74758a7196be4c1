"""How a payload can fail."""

from typing import Any, TypeVar

import msgspec

from tertulia.integrations.incoming.model import Delivery
from tertulia.kernel.errors import Refusal

T = TypeVar("T")


class UnsupportedEvent(Exception):
    """A kind of event that the integration does not know. The service did nothing wrong: it is told so, with a success."""

    def __init__(self, event: str) -> None:
        super().__init__(event)
        self.event = event


def anomalous() -> Refusal:
    """JSON, but not what the service posts."""
    return Refusal("This is not a payload of the service this address is for.", code="ANOMALOUS_WEBHOOK_PAYLOAD")


def read(value: Any, type: type[T]) -> T:
    """The payload, or a part of it, as that type; unknown keys are ignored."""
    try:
        return msgspec.convert(value, type)
    except msgspec.ValidationError as error:
        raise anomalous() from error


def header_of(delivery: Delivery, name: str) -> str:
    """A header that says which kind of event it is."""
    value = delivery.headers.get(name)
    if not value:
        raise Refusal(f"The header {name} is missing: it says what happened.", code="MISSING_HTTP_EVENT_HEADER")
    return value
