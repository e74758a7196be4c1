"""Settings, shown; and the backup of the how-to, which asks for them."""

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg2
import pytest

from tertulia.engines import find_postgres
from tertulia.kernel.settings import load_settings
from tests.harness.command import said_once, tertulia
from tests.harness.files import upload
from tests.harness.realm import Realm
from tests.harness.server import OwnServer

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "files.md"
BLOCK = re.compile(r"^```sh\n(set -eu\n.*?)^```", flags=re.MULTILINE | re.DOTALL)


def test_settings_are_shown_without_their_secrets(tmp_path: Path) -> None:
    file = tmp_path / "tertulia.toml"
    provider = '[[oidc_providers]]\nname = "a"\ndisplay_name = "A"\nissuer = "https://a.example"\nclient_id = "us"\n'
    file.write_text(
        'postgres_url = "postgresql://me:open sesame@127.0.0.1/chat"\nsealing_keys = "sesame"\npool_size = 7\n'
        f'ldap_bind_password = "sesame"\n{provider}client_secret = "open sesame"\n'
    )
    env = {"TERTULIA_CONFIG": str(file), "TERTULIA_SMTP_URL": "smtps://me:sesame@mail.example.com"}
    said = tertulia("config", "show", env=env).stdout
    assert "sesame" not in said
    assert "postgres_url = postgresql://me:(hidden)@127.0.0.1/chat\n" in said
    found = json.loads(tertulia("config", "show", "--json", env=env).stdout)
    assert (found["pool_size"], found["smtp_url"]) == (7, "smtps://me:(hidden)@mail.example.com")
    assert "port" not in found
    assert "sesame" not in str(found)
    assert tertulia("config", "get", "smtp_url", env=env).stdout == env["TERTULIA_SMTP_URL"] + "\n"
    assert "is no setting" in said_once(tertulia("config", "get", "smtp", env=env))


def run(script: str, folder: Path, config: Path) -> None:
    programs = [str(Path(sys.executable).parent), str(find_postgres(load_settings())), os.environ["PATH"]]
    env = {"PATH": os.pathsep.join(programs), "TERTULIA_CONFIG": str(config), "HOME": str(folder)}
    done = subprocess.run(["sh", "-c", script], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def count(url: str) -> tuple[object, ...]:
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("select count(*), max(id), sum(length(content)) from message")
        return cursor.fetchone() or ()


def test_the_backup_of_the_page_brings_everything_back(realm: Realm, folder: Path) -> None:
    server = realm.stage.server
    if not isinstance(server, OwnServer):
        pytest.skip("the files of the server are elsewhere")
    uri = upload(realm.member, "kept.txt", b"kept for years")
    backup, restore = BLOCK.findall(PAGE.read_text())
    config = folder / "tertulia.toml"
    config.write_text(f'postgres_url = "{server.postgres_url}"\nstorage_folder = "{server.files}"\n')
    run(backup, folder, config)
    before = count(server.postgres_url)
    url = f"{server.postgres_url.rpartition('/')[0]}/restored_{os.getpid()}"
    (files := folder / "restored").mkdir()
    config.write_text(f'postgres_url = "{url}"\nstorage_folder = "{files}"\n')
    realm.stage.sql(f"create database restored_{os.getpid()} template template0")
    try:
        run(restore, folder, config)
        assert count(url) == before
        assert b"kept for years" in [path.read_bytes() for path in files.rglob("*") if path.is_file()], uri
    finally:
        realm.stage.sql(f"drop database restored_{os.getpid()} with (force)")
