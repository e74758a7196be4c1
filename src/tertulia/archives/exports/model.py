"""An export, as it is stored and as clients see it."""

from datetime import datetime
from enum import IntEnum
from typing import Literal
from urllib.parse import quote

import msgspec

from tertulia.archives.form.manifest import Scope

KEEP_DAYS = 7
"""How long an archive can be fetched."""


class ExportType(IntEnum):
    """What administrators ask for. Everybody's private data is not among it."""

    PUBLIC = 1
    STANDARD = 2
    """With the private data of those who agree."""


SCOPES: dict[ExportType, Scope] = {ExportType.PUBLIC: "public", ExportType.STANDARD: "consenting"}
TYPES = {scope: kind for kind, scope in SCOPES.items()}


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `export_job`."""

    id: int
    realm_id: int
    user_id: int
    scope: Scope
    asked: datetime
    attempts: int
    key: str | None
    messages_done: int
    messages_total: int | None
    ended: datetime | None
    failed: str | None
    size: int | None
    expires: datetime | None
    deleted: datetime | None

    @property
    def whose(self) -> Literal["mine", "organization"]:
        """Whether it is a copy of somebody's own data."""
        return "mine" if self.scope == "mine" else "organization"

    @property
    def file_name(self) -> str:
        """What it is called when it is saved."""
        what = "my-data" if self.scope == "mine" else f"export-{self.scope}"
        return f"{what}-{self.asked:%Y-%m-%d}-{self.id}.tar"

    @property
    def is_there(self) -> bool:
        """Whether it can be fetched."""
        return self.ended is not None and self.failed is None and self.deleted is None


class OwnExportRecord(msgspec.Struct, kw_only=True):
    """An archive of what is one's own, or the beginning of one."""

    id: int
    export_time: float
    """When it was asked for."""
    deleted_timestamp: float | None
    failed_timestamp: float | None
    export_url: str | None
    """Where it can be fetched, on the organization's own address, by whoever may have it and is logged in."""
    pending: bool
    messages_done: int
    """How far it is: so many messages are written, of `messages_total`, which is null until that is known."""
    messages_total: int | None
    size: int | None
    """In bytes."""
    expires_timestamp: float | None
    """When it will be deleted."""
    failure: str | None
    """Why there is none."""


class ExportRecord(OwnExportRecord, kw_only=True):
    """An archive of the organization, or the beginning of one."""

    acting_user_id: int
    """Who asked."""
    export_type: int


def own_record_of(job: Job) -> OwnExportRecord:
    """What whoever asked sees of it."""
    return OwnExportRecord(
        id=job.id,
        export_time=job.asked.timestamp(),
        deleted_timestamp=_seconds(job.deleted),
        failed_timestamp=_seconds(job.ended) if job.failed is not None else None,
        export_url=f"/exports/{job.id}/{quote(job.file_name)}" if job.is_there else None,
        pending=job.ended is None,
        messages_done=job.messages_done,
        messages_total=job.messages_total,
        size=job.size,
        expires_timestamp=_seconds(job.expires),
        failure=job.failed,
    )


def record_of(job: Job) -> ExportRecord:
    """What administrators see of it."""
    own = msgspec.structs.asdict(own_record_of(job))
    return ExportRecord(**own, acting_user_id=job.user_id, export_type=TYPES[job.scope])


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
