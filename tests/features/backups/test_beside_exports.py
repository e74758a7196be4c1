"""A backup and an export run at the same time; what either may need is deleted by nobody meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from tertulia.archives.writing.actions import write_archive
from tertulia.archives.writing.scope import Asked
from tertulia.backups.making import make_backup
from tertulia.backups.manifest import Manifest
from tertulia.backups.place import open_place
from tertulia.content.storage import Store
from tertulia.kernel.db import Database
from tertulia.kernel.sealing import sealer_of
from tests.features.backups.conftest import Source
from tests.harness.files import upload
from tests.harness.realm import Realm
from tests.harness.server import OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import eventually


class Interrupted:
    """An outlet that does something else in the middle of an archive."""

    def __init__(self, meanwhile: Callable[[], Awaitable[Manifest]]) -> None:
        self._meanwhile = meanwhile
        self.made: Manifest | None = None

    def write(self, data: bytes, /) -> int:
        return len(data)

    async def drain(self) -> None:
        if self.made is None:
            self.made = await self._meanwhile()


def test_a_backup_is_made_beside_an_export_and_files_that_it_needs_stay_until_its_end(
    source: Source, realm: Realm, stage: Stage, server: OwnServer, folder: Path
) -> None:
    upload(realm.member)
    [attachment] = realm.member.get("attachments")["attachments"]
    [(key,)] = stage.sql("select key from attachment where id = %s", attachment["id"])
    file, settings = server.files / key, source.settings

    async def meanwhile() -> Manifest:
        realm.member.delete(f"attachments/{attachment['id']}")
        made = await make_backup(settings, open_place(str(folder), settings, must_exist=False), [], lambda _: None)
        await asyncio.sleep(2.5)  # the worker deletes objects once a second
        assert file.exists()
        return made

    async def export() -> Manifest | None:
        outlet = Interrupted(meanwhile)
        connecting = Database.connect(settings.postgres_url, shards=settings.shards, size=2, sealer=sealer_of(settings))
        async with await connecting as database:
            await write_archive(database, Store(settings), Asked(realm.id, "public"), outlet, lambda *_: None)
        return outlet.made

    made = asyncio.run(export())
    assert made is not None
    assert made.objects
    eventually(lambda: not file.exists())
