"""Import an archive: first it is read whole, then it becomes an organization, stage by stage."""

import asyncio
import multiprocessing
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import asyncpg
import msgspec

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form import kinds
from tertulia.archives.form.manifest import Manifest
from tertulia.archives.loading import beginning, ending, removing, renewing
from tertulia.archives.loading.beginning import FIRST_STAGE, Begun, Whole
from tertulia.archives.loading.credentials import check_keys
from tertulia.archives.loading.furnishing import Furnishing, copy
from tertulia.archives.loading.objects import FILE_COLUMNS, Objects
from tertulia.archives.loading.rendering import (
    COLUMNS,
    Batch,
    LinkedFile,
    Renderer,
    World,
    Written,
    start_process,
    write_in_process,
)
from tertulia.archives.loading.renewing import CLEARING
from tertulia.archives.loading.rows import MAKERS
from tertulia.archives.loading.rules import check_rules, check_shares
from tertulia.archives.loading.shifts import Shifts, Spans
from tertulia.archives.loading.texts import Rewriter
from tertulia.archives.loading.world import Topics, read_world
from tertulia.archives.reading.archive import Archive, open_archive
from tertulia.archives.reading.checking import check_archive
from tertulia.content.storage import Store
from tertulia.files.remote_pictures.queries import link as link_remote
from tertulia.files.uploads.model import Thumbnail
from tertulia.files.uploads.queries import files_by_id
from tertulia.files.uploads.showing import as_upload
from tertulia.kernel.db import Database, Transaction
from tertulia.kernel.settings import Settings

T = TypeVar("T")
Told = Callable[[str, int, int], None]
"""Told often what is being done, how much of it is done, and how much there is."""
Opened = Callable[[Path], AbstractContextManager[Archive]]
STAGES = (CLEARING, FIRST_STAGE, *MAKERS, "end")
"""Kinds that come before these are written with the organization, those that come after with the end."""
LINES_AT_ONCE = 5000
MESSAGES_AT_ONCE = 1000
FILES_AT_ONCE = 50
MANY_MESSAGES = 5000
"""From here on it pays to start processes that render."""
_ADVANCE = """
update realm_import set stage = $4, lines = $5 where realm_id = $1 and stage = $2 and lines = $3 and finished is null
returning true
"""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be imported, and where it goes."""

    file: Path
    subdomain: str
    sources: tuple[str, ...] = ()
    """Addresses that the organization had: links to them lead here."""
    processes: int = 2


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    realm_id: int
    url: str
    counts: dict[str, int]
    """Lines of each kind."""
    shifts: Shifts
    """What was added to ids; nothing: they are those of the archive."""
    lost: dict[str, int]
    """What did not come, or not as it was."""
    went_on: bool
    renewed: bool
    """An older archive of the organization was there before."""
    seconds: float


class Plan(msgspec.Struct, frozen=True):
    """An archive that was read whole, and is good."""

    manifest: Manifest
    organization: kinds.Organization
    spans: Spans
    topics: Topics


def read_plan(archive: Archive, told: Told) -> Plan:
    """ArchiveFailed at the first thing that is wrong: before this nothing is written."""
    if archive.manifest.scope == "mine":
        raise ArchiveFailed(
            "This archive has the data of one person: it is not an organization that could be imported."
        )
    spans, topics, total = Spans(), Topics(), sum(archive.manifest.counts.values())
    seen = 0

    def watch(record: kinds.Record) -> None:
        nonlocal seen
        seen += 1
        spans.see(record)
        topics.see(record)
        if not seen % 2000:
            told("reading", seen, total)

    check_archive(archive, lambda _: None, watch)
    told("reading", total, total)
    check_rules(archive, spans)
    [organization] = archive.of(kinds.Organization)
    return Plan(archive.manifest, organization, spans, topics)


async def preview(database: Database, wanted: Wanted, told: Told, opened: Opened = open_archive) -> tuple[Plan, Shifts]:
    """What would come, without a row being written."""
    with opened(wanted.file) as archive:
        plan = read_plan(archive, told)
    async with database.reader() as reader:
        found = await beginning.find(reader, wanted.subdomain, plan.manifest)
        if isinstance(found, Begun):
            return plan, found.shifts
        shifts = await beginning.shifts_of(reader, plan.spans)
        if found is None:
            return plan, shifts
        renewing.check(found, plan.manifest, plan.spans)
        return plan, renewing.shifts_then(found, shifts, plan.spans)


async def import_archive(
    database: Database, store: Store, settings: Settings, wanted: Wanted, told: Told, opened: Opened = open_archive
) -> Report:
    """All of it. Whoever is stopped begins again with the same archive, and goes on."""
    started = time.monotonic()
    with opened(wanted.file) as archive:
        plan = read_plan(archive, told)
        async with beginning.alone(database):
            async with database.reader() as reader:
                found = await beginning.find(reader, wanted.subdomain, plan.manifest)
                if not isinstance(found, beginning.Begun):  # nor is a newer one asked less
                    check_shares(archive, database.bounds)
                if found is None:
                    await check_keys(reader, archive)
            begun = await _begin(database, wanted, plan, found)
            work = _Import(database, store, settings, wanted, archive, plan, begun, told)
            await work.run()
    return Report(
        realm_id=begun.realm_id,
        url=settings.url_of(wanted.subdomain),
        counts=plan.manifest.counts,
        shifts=begun.shifts,
        lost=work.lost,
        went_on=begun.goes_on,
        renewed=begun.renews,
        seconds=round(time.monotonic() - started, 1),
    )


async def _begin(database: Database, wanted: Wanted, plan: Plan, found: Begun | Whole | None) -> Begun:
    if isinstance(found, Begun):
        return found
    if found is not None:
        return await renewing.renew(database, found, plan.manifest, plan.spans)
    return await beginning.begin(database, wanted.subdomain, plan.organization, plan.manifest, plan.spans)


class _Import:
    def __init__(
        self,
        database: Database,
        store: Store,
        settings: Settings,
        wanted: Wanted,
        archive: Archive,
        plan: Plan,
        begun: Begun,
        told: Told,
    ) -> None:
        self._database = database
        self._archive = archive
        self._plan = plan
        self._begun = begun
        self._shifts = begun.shifts
        self._told = told
        self._processes = wanted.processes
        self._stage, self._lines = begun.stage, begun.lines
        self._objects = Objects(database, store, archive, begun.realm_id)
        self._url = settings.url_of(wanted.subdomain)
        # Where the organization would be if it had been exported here.
        self._sources = [settings.url_of(plan.organization.subdomain), *wanted.sources]
        self._rewriter = Rewriter(begun.shifts, plan.organization.id, self._sources, self._url)
        self.lost = self._objects.lost

    async def run(self) -> None:
        stages: dict[str, Callable[[], Any]] = {
            CLEARING: self._clear,
            FIRST_STAGE: self._furnish,
            "files": self._write_files,
            "messages": self._write_messages,
            "end": self._end,
        }
        while self._stage:
            try:
                await stages.get(self._stage, self._write_kind)()
            except (
                asyncpg.IntegrityConstraintViolationError,
                asyncpg.DataError,
                asyncpg.ProgramLimitExceededError,
            ) as error:
                raise ArchiveFailed(
                    f"The database does not take the {self._stage} of the archive, and what was imported before stays"
                    f" invisible: {error}. {error.detail or ''}".rstrip()
                ) from error

    # Progress

    async def _advance(self, tx: Transaction, stage: str, lines: int) -> None:
        """Part of the transaction that writes: what is there and how far it is said to be are the same."""
        if not await tx.fetchval(_ADVANCE, self._begun.realm_id, self._stage, self._lines, stage, lines):
            raise ArchiveFailed(
                "Another import of this archive has gone on meanwhile. Look how far it is: begin again."
            )

    @asynccontextmanager
    async def _writing(self, count: int, *, ends: bool = False) -> AsyncIterator[Transaction]:
        """A transaction that writes so many lines of the stage; or that ends it."""
        after = STAGES[STAGES.index(self._stage) + 1] if ends else self._stage
        lines = 0 if ends else self._lines + count
        async with self._database.transaction() as tx:
            await self._advance(tx, after, lines)
            yield tx
        self._stage, self._lines = after, lines

    def _rest(self) -> Iterator[Any]:
        """The lines of the stage that are still to be written."""
        return islice(self._archive.lines(self._stage), self._lines, None)

    def _tell(self) -> None:
        self._told(self._stage.replace("_", " "), self._lines, self._plan.manifest.counts.get(self._stage, 0))

    async def _leave(self) -> None:
        async with self._writing(0, ends=True):
            pass

    # Stages

    async def _clear(self) -> None:
        await removing.clear(self._database, self._begun.realm_id, self._told)
        await self._leave()

    async def _furnish(self) -> None:
        self._told("organization", 0, 1)
        avatars, emoji = await self._objects.avatars(), await self._objects.emoji()
        pictures = await self._objects.organization_pictures()
        realm_id = self._begun.realm_id
        async with self._writing(1, ends=True) as tx:
            await self._objects.adopt(tx)
            furnishing = Furnishing(tx, self._archive, self._begun, self._rewriter, self._plan.spans)
            await furnishing.write(avatars, emoji)
            self.lost.update(furnishing.lost)
            domains = [(realm_id, one.domain.lower(), one.allow_subdomains) for one in self._plan.organization.domains]
            await copy(tx, "realm_domain", "realm_id domain allow_subdomains", domains)
            await copy(tx, "realm_picture", "realm_id kind name", [(realm_id, *one) for one in pictures.items()])

    async def _write_kind(self) -> None:
        makers = MAKERS[self._stage]
        for lines in portions(self._rest(), LINES_AT_ONCE):
            async with self._writing(len(lines)) as tx:
                for table, columns, make in makers:
                    rows = [
                        row for line in lines for row in make(line, self._begun.realm_id, self._shifts, self._rewriter)
                    ]
                    await copy(tx, table, columns, rows)
            self._tell()
        await self._leave()

    async def _write_files(self) -> None:
        for lines in portions(self._rest(), FILES_AT_ONCE):
            rows = [
                await self._objects.file(
                    one, self._rewriter, one.owner_id + self._shifts.person, one.id + self._shifts.file
                )
                for one in lines
            ]
            async with self._writing(len(lines)) as tx:
                await self._objects.adopt(tx)
                await copy(tx, "attachment", FILE_COLUMNS, rows)
            self._tell()
        await self._leave()

    async def _write_messages(self) -> None:
        self._tell()
        world = await self._world()
        if self._plan.manifest.counts.get("messages", 0) < MANY_MESSAGES:
            renderer = Renderer(world)
            for lines in portions(self._rest(), MESSAGES_AT_ONCE):
                await self._store(len(lines), renderer.write(await self._batch(lines)))
        else:
            await self._write_in_processes(world)
        await self._leave()

    async def _write_in_processes(self, world: World) -> None:
        """Those that render work while this one reads and writes. Batches are stored in their order."""
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self._processes, context, initializer=start_process, initargs=(world,))
        loop, pending = asyncio.get_running_loop(), deque[tuple[int, "asyncio.Future[Written]"]]()
        try:
            for lines in portions(self._rest(), MESSAGES_AT_ONCE):
                batch = await self._batch(lines)
                pending.append((len(lines), loop.run_in_executor(pool, write_in_process, batch)))
                if len(pending) > self._processes:
                    count, written = pending.popleft()
                    await self._store(count, await written)
            for count, written in pending:
                await self._store(count, await written)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    async def _world(self) -> World:
        return await read_world(self._database, self._begun, self._plan.organization, self._sources, self._url)

    async def _batch(self, lines: Sequence[kinds.Message]) -> Batch:
        """With what only this process knows."""
        topics = {
            line.id: self._plan.topics.linked_by(line, self._shifts.message) for line in lines if "#**" in line.content
        }
        ids = sorted({id for line in lines for id in line.files})
        files = {}
        if ids:
            async with self._database.reader() as reader:
                found = await files_by_id(reader, [id + self._shifts.file for id in ids])
            for file in found:
                is_waiting = file.thumbnail == Thumbnail.WAITING
                files[file.id - self._shifts.file] = LinkedFile(file.id, as_upload(file), is_waiting)
        return Batch(list(lines), files, topics)

    async def _store(self, count: int, written: Written) -> None:
        async with self._writing(count) as tx:
            for table, columns in COLUMNS.items():
                await copy(tx, table, " ".join(columns), written.tables[table])
            if written.remote:
                await link_remote(tx, written.remote, is_new=False)
        if written.unrendered:
            what = "texts whose HTML would be too large: they are shown as they were written"
            self.lost[what] = self.lost.get(what, 0) + written.unrendered
        self._tell()

    async def _end(self) -> None:
        self._told("last steps", 0, 1)
        renderer = Renderer(await self._world())
        async with self._database.transaction() as tx:
            await self._advance(tx, self._stage, self._lines)
            lost = await ending.finish(
                tx, self._archive, self._plan.organization, self._plan.spans, self._begun, renderer
            )
        self._stage = ""
        for what, count in lost.items():
            self.lost[what] = self.lost.get(what, 0) + count
        await ending.analyze(self._database)
        self._told("last steps", 1, 1)


def portions(lines: Iterator[T], size: int) -> Iterator[list[T]]:
    """So many at a time."""
    while some := list(islice(lines, size)):
        yield some
