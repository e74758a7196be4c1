"""Files of an import pass the malware scanner, where one is set, as what people upload."""

import re
from pathlib import Path

from tests.features.archives.conftest import World
from tests.features.archives.test_imports import command, environment, fresh_name, imported
from tests.harness.clamd import EICAR, clamd
from tests.harness.command import tertulia
from tests.harness.files import fetch, upload

FOUND = "files in which the malware scanner found something"


def test_while_the_scanner_is_away_an_import_waits(world: World, folder: Path) -> None:
    subdomain, file = fresh_name(), world.export(folder / "whole.tar").file
    env = environment(world.server) | {"TERTULIA_MALWARE_SCANNER": "127.0.0.1:9"}
    stopped = tertulia(*command(file, subdomain), env=env)
    assert (stopped.returncode, "malware scanner does not answer" in stopped.stderr) == (1, True)
    assert imported(world.server, world.realm.stage, file, subdomain).report["went_on"]


def test_an_infected_file_does_not_come_and_the_rest_does(world: World, folder: Path) -> None:
    owner, subdomain = world.realm.owner, fresh_name()
    urls = [upload(owner, "invoice.exe", b"MZ" + EICAR), upload(owner, "clean.txt", b"clean")]
    owner.send(world.public.stream_id, "files", " ".join(f"[file]({url})" for url in urls))
    file = world.export(folder / "infected.tar").file
    with clamd(folder) as address:
        env = environment(world.server) | {"TERTULIA_MALWARE_SCANNER": address}
        done = tertulia(*command(file, subdomain), env=env)
    assert done.returncode == 0, done.stderr
    assert f'"{FOUND}": 1' in re.sub(r"\s+", " ", done.stdout)
    stage = world.realm.stage
    sql = """
    select attachment.name, size from attachment join realm on realm.id = realm_id
    where subdomain = %s and attachment.name in ('invoice.exe', 'clean.txt')
    """
    found = dict(stage.sql(sql, subdomain))
    assert found == {"invoice.exe": 0, "clean.txt": 5}
    assert fetch(owner, urls[0]).status_code == 200  # where it came from nobody looked
