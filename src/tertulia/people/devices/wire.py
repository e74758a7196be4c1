"""What clients see of devices."""

from typing import Literal

from msgspec import UNSET

from tertulia.events.wire import Event, Unset


class DeviceEvent(Event, frozen=True, kw_only=True):
    """A device that notifications are pushed to."""

    type: Literal["device"]
    op: Literal["add", "update", "remove"]
    device_id: int
    push_key_id: int | Unset | None = UNSET
    push_token_id: str | Unset | None = UNSET
    pending_push_token_id: str | Unset | None = UNSET
    push_token_last_updated_timestamp: int | Unset | None = UNSET
    push_registration_error_code: str | Unset | None = UNSET
