"""The backups that `tertulia serve --standalone` makes each night: where they go, how many are kept, who can read them."""

import os
from pathlib import Path

import pytest

from tertulia.cli.nightly import NightlyBackup
from tertulia.kernel.settings import load_settings
from tests.harness.command import tertulia
from tests.harness.server import OwnServer
from tests.harness.talk import eventually

ENCRYPTED = b"age-encryption.org"


def night(server: OwnServer, folder: Path, **settings: str) -> list[str]:
    """One that was missed is made up for; what was said."""
    said: list[str] = []
    found = load_settings(env=server.environment(nightly_backup="02:30", **settings))
    backup = NightlyBackup(found, folder, said.append)
    mark = folder / "last-backup"
    mark.touch()
    os.utime(mark, (0, 0))

    def is_over() -> bool:
        backup.tick()
        return mark.stat().st_mtime > 0 or len(said) > 1

    eventually(is_over, 120)
    return said


def archives(place: Path) -> list[str]:
    return sorted(path.parent.name for path in place.glob("*/manifest.json") if not path.parent.is_symlink())


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_archives_go_to_the_place_that_is_set_sealed_for_the_key_that_is_set_and_only_the_newest_of_a_day_is_kept(
    server: OwnServer, folder: Path
) -> None:
    place, own = folder / "elsewhere", folder / "data"
    own.mkdir()
    public = tertulia("backup", "new-key", str(folder / "key.txt")).stdout.strip()
    given = {"backup_place": str(place), "backup_recipients": public, "nightly_backup_days": "2"}
    assert night(server, own, **given) == ["making a backup"]
    [first] = archives(place)
    assert not (own / "backups").exists()
    assert (place / first / "database").read_bytes().startswith(ENCRYPTED)
    assert night(server, own, **given) == ["making a backup"]
    [second] = archives(place)
    assert second > first, "of one day the newest is kept"


@pytest.mark.timeout(300)
def test_a_place_that_cannot_be_written_is_said_and_the_night_stays_due(server: OwnServer, folder: Path) -> None:
    (folder / "file").write_text("in the way")
    _, failed = night(server, folder, backup_place=str(folder / "file" / "below"))
    assert "FAILED" in failed
    assert "again in an hour" in failed
    assert (folder / "last-backup").stat().st_mtime == 0
