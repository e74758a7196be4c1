"""What clients see of exports."""

from typing import Literal

from tertulia.archives.exports.model import ExportRecord
from tertulia.events.wire import Event


class RealmExportEvent(Event, frozen=True, kw_only=True):
    """Something about the exports of the organization changed: all of them, for administrators."""

    type: Literal["realm_export"]
    exports: list[ExportRecord]
