"""From a workspace of Slack to people who read their history here."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.features.archives.test_imports import Imported, environment, fresh_name, is_waiting, wait_for_pictures
from tests.harness.command import tertulia
from tests.harness.files import fetch
from tests.harness.server import OwnServer, Server
from tests.harness.slack_export import Export, workspace
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Json, Speaker, eventually


class Moved(NamedTuple):
    """A workspace that came here."""

    server: OwnServer
    file: Path
    imported: Imported

    def person(self, email: str) -> Speaker:
        sql = "select id from account where realm_id = %s and email = %s"
        [(id,)] = self.imported.stage.sql(sql, self.imported.report["realm_id"], email)
        return self.imported.person(id)


def command(file: Path, subdomain: str, *options: str) -> tuple[str, ...]:
    return "import", "slack", str(file), "--subdomain", subdomain, "--json", *options


@pytest.fixture(scope="module")
def moved(server: Server, backstage: Backstage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moved]:
    if not isinstance(server, OwnServer):
        pytest.skip("needs the files of the server")
    file = workspace().write(tmp_path_factory.mktemp("slack") / "team.zip")
    stage, subdomain = Stage(server, backstage), fresh_name()
    done = tertulia(*command(file, subdomain, "--owner", "ana@example.com"), env=environment(server))
    assert done.returncode == 0, done.stderr
    yield Moved(server, file, Imported(stage, subdomain, json.loads(done.stdout)))
    stage.close()


def all_of(speaker: Speaker) -> list[Json]:
    found: list[Json] = speaker.window("oldest", after=1000)["messages"]
    return found


def the_one(messages: list[Json], words: str) -> Json:
    [found] = [one for one in messages if words in one["content"]]
    return found


def test_people_read_in_order_what_was_said_with_its_threads_and_reactions(moved: Moved) -> None:
    messages = all_of(moved.person("bea@example.com"))
    texts = [one["content"] for one in messages if one["display_recipient"] == "general"]
    assert "hello <strong>all</strong>" in texts[0]
    assert texts[1] == "<p>second</p>"
    assert [one["id"] for one in messages] == sorted(one["id"] for one in messages)
    assert [one["timestamp"] for one in messages] == sorted(one["timestamp"] for one in messages)
    answer, began = the_one(messages, "<p>yes</p>"), the_one(messages, "Shall <strong>we</strong>")
    assert answer["subject"] == "Shall we ship it? Yes or no"
    assert began["subject"] == "imported from Slack"
    assert "2 replies: Shall we ship it? Yes or no</a>" in began["content"]
    first = the_one(messages, "hello <strong>all</strong>")
    assert sorted(one["emoji_name"] for one in first["reactions"]) == ["+1", "+1", "cat_face"]
    assert f'/near/{first["id"]}">what Ana said</a>' in the_one(messages, "what Ana said")["content"]
    assert all("read" in one["flags"] for one in messages)


def test_system_groups_that_an_export_does_not_know_are_those_of_any_organization(moved: Moved) -> None:
    """Clients do not read a group whose settings are nobody's."""
    groups = moved.person("bea@example.com").post("register")["realm_user_groups"]
    [nobody] = [one["id"] for one in groups if one["name"] == "role:nobody"]
    systems = [one for one in groups if one["is_system_group"]]
    settings = {key: value for one in systems for key, value in one.items() if key.startswith("can_")}
    assert len(systems) == 8
    assert set(settings.values()) == {nobody}


def test_what_was_private_is_read_only_by_those_who_read_it_there(moved: Moved) -> None:
    secrets = {"secret of the closed one,": ("ana", "bea"), "secret of two": ("ana", "bea"), "note to self": ()}
    for name in ("ana", "bea", "gil"):
        texts = " ".join(one["content"] for one in all_of(moved.person(f"{name}@example.com")))
        for secret, readers in secrets.items():
            assert (secret in texts) == (name in readers), (name, secret)
        assert ("three, second" in texts) == (name != "gil")
        assert ("who reads this?" in texts) == (name == "bea")


def test_files_of_the_zip_are_there_for_who_read_the_message(moved: Moved) -> None:
    bea = moved.person("bea@example.com")
    wait_for_pictures(moved.imported.stage, moved.imported.report["realm_id"])
    content = the_one(all_of(bea), "<p>with a file</p>")["content"]
    path = content.partition('href="')[2].partition('"')[0]
    assert fetch(bea, path).content == b"the plan"


def test_who_comes_from_there_is_a_stub_and_the_owner_is_whom_the_operator_named(moved: Moved) -> None:
    members = {one["full_name"]: one for one in moved.person("ana@example.com").get("users")["members"]}
    assert members["Ana Admin"]["role"] == 100
    assert members["Bea Bold"]["role"] == 400
    assert members["Gil Guest"]["role"] == 600
    assert members["Cem"]["is_imported_stub"]
    assert members["Cem"]["email"].endswith("@import.invalid")
    assert not members["Gone"]["is_active"]
    assert members["CI"]["is_bot"]
    sql = (
        "select count(*) from api_key join account on account.id = user_id where bot_type is not null and realm_id = %s"
    )
    assert moved.imported.stage.sql(sql, moved.imported.report["realm_id"]) == [(0,)]


def test_a_dry_run_writes_nothing_and_counts_what_the_import_counted(moved: Moved, tmp_path: Path) -> None:
    report = tmp_path / "report.jsonl"
    options = ("--owner", "ana@example.com", "--dry-run", "--report", str(report), "--to", str(tmp_path / "kept.tar"))
    name = fresh_name()
    done = tertulia(*command(moved.file, name, *options), env=environment(moved.server))
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["counts"] == moved.imported.report["counts"]
    assert moved.imported.stage.sql("select count(*) from realm where subdomain = %s", name) == [(0,)]
    summary, *cases = map(json.loads, report.read_text().splitlines())
    assert summary["lost"] == said["lost"]
    assert len(cases) >= 20
    assert (tmp_path / "kept.tar").stat().st_mode & 0o777 == 0o600
    beside = moved.file.with_name("team.zip.report.jsonl")
    assert json.loads(beside.read_text().splitlines()[0])["lost"] == said["lost"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [((), "--owner ADDRESS"), (("--owner", "nobody@example.com"), "Nobody in the export")],
)
def test_without_a_good_owner_nothing_is_imported(moved: Moved, options: tuple[str, ...], sentence: str) -> None:
    done = tertulia(*command(moved.file, fresh_name(), *options), env=environment(moved.server))
    assert done.returncode != 0
    assert sentence in done.stderr


def test_what_is_no_export_is_refused_with_a_sentence(moved: Moved, tmp_path: Path) -> None:
    file = Export({"readme.txt": b"x"}).write(tmp_path / "other.zip")
    done = tertulia(*command(file, fresh_name(), "--dry-run"), env=environment(moved.server))
    assert done.returncode != 0
    assert "no channels.json" in done.stderr


def test_who_claims_their_account_by_its_address_is_no_stub_any_more(moved: Moved) -> None:
    subdomain = moved.imported.subdomain
    made = tertulia(
        "user", "password", "gil@example.com", "--realm", subdomain, "--link", env=environment(moved.server)
    )
    assert made.returncode == 0, made.stderr
    visitor = moved.imported.stage.nobody(host=f"{subdomain}.localhost")
    token, password = made.stdout.strip().rpartition("/")[2], "a quiet river in november"
    visitor.post("accounts/password/reset/confirm", token=token, new_password=password)
    visitor.post("fetch_api_key", username="gil@example.com", password=password)
    stubs = {one["email"]: one["is_imported_stub"] for one in moved.person("ana@example.com").get("users")["members"]}
    assert not stubs["gil@example.com"]
    assert stubs["bea@example.com"]


def test_an_import_that_was_killed_goes_on_with_the_same_command(moved: Moved) -> None:
    stage, subdomain, env = moved.imported.stage, fresh_name(), environment(moved.server)
    words = command(moved.file, subdomain, "--owner", "ana@example.com")
    with stage.session() as execute:
        execute("lock table reaction in share mode")
        process = subprocess.Popen([sys.executable, "-m", "tertulia", *words], env=env, stderr=subprocess.PIPE)
        eventually(lambda: is_waiting(stage))
        process.kill()
        process.communicate()
    done = tertulia(*words, env=env)
    assert done.returncode == 0, done.stderr
    again = Imported(stage, subdomain, json.loads(done.stdout))
    assert again.report["went_on"]
    assert again.report["counts"] == moved.imported.report["counts"]
    # Ids are others, also in texts.
    sql = "select string_agg(regexp_replace(content, '[0-9]+', '0', 'g'), '/' order by id) from message where realm_id = %s"
    assert stage.sql(sql, again.report["realm_id"]) == stage.sql(sql, moved.imported.report["realm_id"])


def test_what_commands_that_were_killed_have_left_of_people_goes_with_the_next(moved: Moved, folder: Path) -> None:
    place = folder / "temporary"
    left = [place / f"tertulia-{kind}-left" for kind in ("import", "verify", "picture")]
    held, young, elsewhere = (place / name for name in ("tertulia-import-held", "tertulia-import-young", "others"))
    for each in (*left, held, young, elsewhere):
        each.mkdir(parents=True)
        (each / "archive.tar").write_bytes(b"what people said")
    for each in (*left, held, elsewhere):
        os.utime(each, (0, 0))  # long ago
    handle = os.open(held, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        env = environment(moved.server) | {"TMPDIR": str(place)}
        done = tertulia(*command(moved.file, fresh_name(), "--dry-run"), env=env)
    finally:
        os.close(handle)
    assert done.returncode == 0, done.stderr
    assert {each.name for each in place.iterdir()} == {held.name, young.name, elsewhere.name}
