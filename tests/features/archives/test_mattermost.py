"""From a team of Mattermost to people who read their history here."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.features.archives.test_imports import Imported, environment, fresh_name, wait_for_pictures
from tests.features.archives.test_slack import Moved, all_of, the_one
from tests.harness.command import tertulia
from tests.harness.files import fetch
from tests.harness.mattermost_export import OTHER, Export, line, world
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Backstage, Stage


def command(file: Path, subdomain: str, *options: str) -> tuple[str, ...]:
    return "import", "mattermost", str(file), "--subdomain", subdomain, "--json", *options


@pytest.fixture(scope="module")
def moved(server: Server, backstage: Backstage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moved]:
    if not isinstance(server, OwnServer):
        pytest.skip("needs the files of the server")
    file = world().write(tmp_path_factory.mktemp("mattermost") / "team.zip")
    stage, subdomain = Stage(server, backstage), fresh_name()
    done = tertulia(*command(file, subdomain, "--owner", "ana@example.com"), env=environment(server))
    assert done.returncode == 0, done.stderr
    yield Moved(server, file, Imported(stage, subdomain, json.loads(done.stdout)))
    stage.close()


def test_people_read_in_order_what_was_said_with_its_threads_and_reactions(moved: Moved) -> None:
    messages = all_of(moved.person("bea@example.com"))
    assert [one["timestamp"] for one in messages] == sorted(one["timestamp"] for one in messages)
    first, began = the_one(messages, "hello <strong>all</strong>"), the_one(messages, "Shall <strong>we</strong>")
    assert '<span class="user-mention" data-user-id=' in first["content"]
    assert "#Town Square</a>" in first["content"]
    assert "acme_bird" in first["content"]
    assert sorted((one["emoji_name"], one["reaction_type"]) for one in first["reactions"]) == [
        ("+1", "unicode_emoji"), ("+1", "unicode_emoji"), ("acme_bird", "realm_emoji")
    ]  # fmt: skip
    assert the_one(messages, "<p>yes</p>")["subject"] == "Shall we ship it? Yes or no"
    assert began["subject"] == "imported from Mattermost"
    assert "2 replies: Shall we ship it? Yes or no</a>" in began["content"]
    built = the_one(messages, "Build 7")
    assert (built["sender_full_name"], '<a href="https://ci.example/7">Build 7</a>' in built["content"]) == ("CI", True)


def test_what_was_private_is_read_only_by_those_who_read_it_there(moved: Moved) -> None:
    secrets = {"secret of the closed one": ("ana", "bea"), "answer of two": ("ana", "bea"), "note to self": ()}
    for name in ("ana", "bea", "gil", "tess"):
        texts = " ".join(one["content"] for one in all_of(moved.person(f"{name}@example.com")))
        for secret, readers in secrets.items():
            assert (secret in texts) == (name in readers), (name, secret)
        assert ("<p>three</p>" in texts) == (name in ("ana", "bea"))
        assert ("who reads this?" in texts) == (name == "bea")
        assert ("hello <strong>all</strong>" in texts) == (name != "tess")
        assert "of another team" not in texts


def test_what_was_read_and_starred_is_so_for_each(moved: Moved) -> None:
    ana, bea, gil = (all_of(moved.person(f"{name}@example.com")) for name in ("ana", "bea", "gil"))
    assert "read" in the_one(bea, "<p>second</p>")["flags"]
    assert "read" not in the_one(bea, "<p>rather not</p>")["flags"]
    assert "read" in the_one(bea, "<p>yes</p>")["flags"], "she wrote it"
    assert "read" in the_one(ana, "<p>rather not</p>")["flags"]
    assert "read" in the_one(gil, "<p>rather not</p>")["flags"], "the export does not say"
    assert "starred" in the_one(bea, "hello <strong>all</strong>")["flags"]
    assert "starred" not in the_one(ana, "hello <strong>all</strong>")["flags"]
    assert "starred" in the_one(ana, "more of two")["flags"]
    mine = {one["name"]: one for one in moved.person("bea@example.com").get("users/me/subscriptions")["subscriptions"]}
    assert mine["Town Square"]["is_muted"]
    assert not mine["Closed *Room*"]["is_muted"]


def test_files_pictures_and_emoji_are_there(moved: Moved) -> None:
    ana = moved.person("ana@example.com")
    wait_for_pictures(moved.imported.stage, moved.imported.report["realm_id"])
    content = the_one(all_of(ana), "<p>with a file</p>")["content"]
    assert fetch(ana, content.partition('href="')[2].partition('"')[0]).content == b"the plan"
    assert "acme_bird" in {one["name"] for one in ana.get("realm/emoji")["emoji"].values()}
    members = {one["full_name"]: one for one in ana.get("users")["members"]}
    assert members["Ana Admin"]["avatar_url"] != members["Bea Bold"]["avatar_url"]


def test_who_comes_from_there_is_a_stub_and_the_owner_is_whom_the_operator_named(moved: Moved) -> None:
    members = {one["full_name"]: one for one in moved.person("ana@example.com").get("users")["members"]}
    roles = {name: members[name]["role"] for name in ("Ana Admin", "Bea Bold", "Gil Guest", "Tess Less")}
    assert roles == {"Ana Admin": 100, "Bea Bold": 400, "Gil Guest": 600, "Tess Less": 600}
    assert members["cem_"]["is_imported_stub"]
    assert not members["Gone"]["is_active"]
    assert members["The Helper"]["is_bot"]


def test_a_dry_run_writes_nothing_and_counts_what_the_import_counted(moved: Moved, tmp_path: Path) -> None:
    report, name = tmp_path / "report.jsonl", fresh_name()
    options = ("--owner", "ana@example.com", "--dry-run", "--report", str(report), "--to", str(tmp_path / "kept.tar"))
    done = tertulia(*command(moved.file, name, *options), env=environment(moved.server))
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["counts"] == moved.imported.report["counts"]
    assert moved.imported.stage.sql("select count(*) from realm where subdomain = %s", name) == [(0,)]
    summary, *cases = map(json.loads, report.read_text().splitlines())
    assert summary["lost"] == told["lost"]
    assert len(cases) >= 20


def test_without_an_owner_or_a_choice_of_teams_nothing_is_imported(moved: Moved, tmp_path: Path) -> None:
    done = tertulia(*command(moved.file, fresh_name()), env=environment(moved.server))
    assert (done.returncode != 0, "--owner ADDRESS" in done.stderr) == (True, True)
    several = Export([*world().lines, line("team", name=OTHER, display_name="Others")], {}).write(tmp_path / "two.zip")
    done = tertulia(*command(several, fresh_name(), "--dry-run"), env=environment(moved.server))
    assert (done.returncode != 0, "--team NAME" in done.stderr) == (True, True)
    done = tertulia(*command(several, fresh_name(), "--dry-run", "--team", "acme"), env=environment(moved.server))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["lost"]["teams that were not asked for"] == 1
