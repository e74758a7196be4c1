"""Asking a server for an export, and fetching what came of it."""

import asyncio
import time
from pathlib import Path

from tertulia.archives.exports.building import build_exports
from tertulia.archives.exports.expiring import forget_old_exports
from tertulia.content.storage import Store
from tertulia.kernel.db import Database
from tertulia.kernel.settings import load_settings
from tests.features.archives.conftest import Archive
from tests.harness.files import fetch
from tests.harness.passwords import PASSWORD
from tests.harness.server import OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import Json, Speaker, eventually

PUBLIC, STANDARD = 1, 2


def ask(speaker: Speaker, kind: int = PUBLIC) -> int:
    """Ask for an export of the organization; its id."""
    asked = speaker.post("export/realm", export_type=kind, password=PASSWORD)["id"]
    assert isinstance(asked, int)
    return asked


def shown(speaker: Speaker, export_id: int, path: str = "export/realm") -> Json:
    """An export, as it is listed."""
    [found] = [one for one in speaker.get(path)["exports"] if one["id"] == export_id]
    entry: Json = found
    return entry


def when_ended(speaker: Speaker, export_id: int, path: str = "export/realm") -> Json:
    """The same, when nothing more is done for it."""
    eventually(lambda: not shown(speaker, export_id, path)["pending"], 60)
    return shown(speaker, export_id, path)


def fetched(speaker: Speaker, entry: Json, file: Path) -> Archive:
    """The archive itself."""
    reply = fetch(speaker, entry["export_url"])
    assert reply.status_code == 200, reply.text
    assert len(reply.content) == entry["size"]
    assert reply.headers["content-disposition"].startswith("attachment;")
    file.write_bytes(reply.content)
    return Archive.read(file)


def until_all_have_ended(stage: Stage) -> None:
    """Those that other tests have left, perhaps to be tried again: they would be made between those of the next test. What is due
    much later is not in its way, and some are left for good."""
    soon = "select 1 from export_job where ended is null and (attempts > 0 or due <= now() + interval '10 seconds')"
    patience = time.monotonic() + 40
    while stage.sql(soon) and time.monotonic() < patience:
        time.sleep(0.1)


class holding:  # noqa: N801 -- as a context
    """Nobody reads that table meanwhile: an export stands still in its middle."""

    def __init__(self, stage: Stage, table: str) -> None:
        self._stage = stage
        self._session = stage.session()
        self._table = table

    def __enter__(self) -> None:
        # One that another test left would stand still as well, and keep the worker from the next.
        until_all_have_ended(self._stage)
        self._session.__enter__()(f"lock table {self._table} in access exclusive mode")

    def __exit__(self, *error: object) -> None:
        self._session.__exit__(None, None, None)


def run_chore(own: OwnServer, what: str, **settings: str) -> None:
    """One round of a chore, here."""
    chosen = load_settings(env=own.environment(**settings))

    async def run() -> None:
        async with await Database.connect(chosen.postgres_url, shards=chosen.shards, size=4) as database:
            if what == "build":
                await build_exports(database, Store(chosen))
            else:
                await forget_old_exports(database)

    asyncio.run(run())
