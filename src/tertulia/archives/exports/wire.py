"""What clients see of exports."""

from typing import Any, Literal

from tertulia.events.wire import Event


class RealmExportEvent(Event, frozen=True, kw_only=True):
    """The list of exports changed: all exports of the organization."""

    type: Literal["realm_export"]
    exports: list[dict[str, Any]]
