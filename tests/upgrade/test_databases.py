"""The database of every release is brought to the newest form, and people find everything as they left it."""

import gzip
import json
import os
import subprocess
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from tests.upgrade.fleet import Fleet, fleet_in
from tests.upgrade.make_database import DATABASES
from tests.upgrade.seen import missing, seen_by
from tests.upgrade.versions import THIS

pytestmark = pytest.mark.system
ROOT = Path(__file__).parents[2]
RELEASES = sorted(path.name.removesuffix(".json.gz") for path in DATABASES.glob("*.json.gz"))
CONTRACT = ("tests/contract/test_alert_words.py", "tests/contract/test_flags.py")


def load(fleet: Fleet, release: str) -> None:
    sql = gzip.decompress((DATABASES / f"{release}.sql.gz").read_bytes()).decode()
    with closing(psycopg2.connect(fleet.postgres_url)) as connection, connection, connection.cursor() as cursor:
        cursor.execute("set check_function_bodies = off;" + sql)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("release", RELEASES)
async def test_a_database_of_a_release_serves_the_newest_version(folder: Path, release: str) -> None:
    kept = json.loads(gzip.decompress((DATABASES / f"{release}.json.gz").read_bytes()))
    keys = folder / "sealing.keys"
    keys.write_text(kept["sealing_keys"])
    with fleet_in(folder, sealing_key_file=keys) as fleet:
        load(fleet, release)
        assert (done := fleet.run(THIS, "migrate")).returncode == 0, done.stderr
        for name in ("relay", "worker", "web 1"):
            await fleet.start(name, THIS)
        url, owner = fleet.urls[0], kept["people"]["owner"]
        for name, person in kept["people"].items():
            seen = seen_by(url, person["email"], person["key"])
            assert missing(kept["seen"][name], seen, name) == []
        env = os.environ | {"TERTULIA_TEST_OWNER": f"{owner['email']}:{owner['key']}"}
        command = [str(ROOT / "bin" / "contract"), url, "-p", "no:cacheprovider", "-q", *CONTRACT]
        run = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
        assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]


def test_every_release_has_its_database() -> None:
    """A release adds its own (docs/how-to/upgrade.md)."""
    assert "0.1.0" in RELEASES


def test_what_is_gone_or_otherwise_is_told_and_what_is_new_is_not() -> None:
    before = {"name": "tea", "people": [{"id": 1}], "timestamp": 5}
    assert missing(before, {"name": "tea", "people": [{"id": 1, "new": 2}], "timestamp": 6}) == []
    assert missing(before, {"people": [{"id": 2}], "timestamp": 6}, "x") == [
        "x.name is gone",
        "x.people[0].id was 1, is 2",
    ]
