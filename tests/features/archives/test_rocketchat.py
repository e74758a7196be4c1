"""From a workspace of Rocket.Chat to people who read their history here."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.features.archives.test_imports import Imported, environment, fresh_name, wait_for_pictures
from tests.features.archives.test_slack import Moved, all_of, the_one
from tests.harness.command import tertulia
from tests.harness.files import fetch
from tests.harness.rocketchat_dump import workspace
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Backstage, Stage


def command(path: Path, subdomain: str, *options: str) -> tuple[str, ...]:
    return "import", "rocketchat", str(path), "--subdomain", subdomain, "--json", *options


@pytest.fixture(scope="module")
def moved(server: Server, backstage: Backstage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moved]:
    if not isinstance(server, OwnServer):
        pytest.skip("needs the files of the server")
    path = workspace().write_archive(tmp_path_factory.mktemp("rocketchat") / "chat.archive.gz", packed=True)
    stage, subdomain = Stage(server, backstage), fresh_name()
    done = tertulia(*command(path, subdomain, "--owner", "ana@example.com"), env=environment(server))
    assert done.returncode == 0, done.stderr
    yield Moved(server, path, Imported(stage, subdomain, json.loads(done.stdout)))
    stage.close()


def test_people_read_in_order_what_was_said_with_its_threads_discussions_and_reactions(moved: Moved) -> None:
    messages = all_of(moved.person("bea@example.com"))
    texts = [one["content"] for one in messages if one["display_recipient"] == "general"]
    assert "hello <strong>all</strong>" in texts[0]
    assert texts[1:3] == ["<p>second</p>", "<p>in the same millisecond</p>"]
    assert [one["id"] for one in messages] == sorted(one["id"] for one in messages)
    assert the_one(messages, "<p>yes</p>")["subject"] == "Shall we ship it?"
    assert the_one(messages, "Shall <strong>we</strong>")["subject"] == "imported from Rocket.Chat"
    assert the_one(messages, "<p>about the plan</p>")["subject"] == "About the *plan*"
    first = the_one(messages, "hello <strong>all</strong>")
    assert sorted(one["emoji_name"] for one in first["reactions"]) == ["+1", "+1", "cat_face", "party_cat"]
    assert f'/near/{first["id"]}">what Ana said</a>' in the_one(messages, "what Ana said")["content"]
    assert 'alt=":party_cat:"' in first["content"]


def test_what_was_read_and_marked_is_so_here(moved: Moved) -> None:
    bea, cem = (all_of(moved.person(f"{name}@example.com")) for name in ("bea", "cem"))
    general = [one for one in bea if one["display_recipient"] == "general"]
    assert all("read" in one["flags"] for one in general if one["sender_email"] == "bea@example.com")
    others = [one for one in general if one["sender_email"] != "bea@example.com"]
    assert "first: hello" in [one["content"] for one in others if "read" in one["flags"]][-1]
    assert "read" in the_one(cem, "<p>yes</p>")["flags"]
    assert "read" not in the_one(bea, "<p>shown to all</p>")["flags"]
    assert [one["id"] for one in bea if "starred" in one["flags"]] == [the_one(bea, "first: hello <strong>")["id"]]
    assert not [one for one in cem if "starred" in one["flags"]]


def test_what_was_private_is_read_only_by_those_who_read_it_there(moved: Moved) -> None:
    secrets = {
        "secret of the closed one": ("ana", "bea"),
        "secret of two": ("ana", "bea"),
        "discussed by two": ("ana", "bea"),
        "said aside": ("ana", "bea"),
        "whispered": ("ana",),
        "a guest listens": ("ana", "gil"),
        "an old room": ("bea", "cem"),
        "note to self": ("cem",),
        "who reads this?": ("bea",),
    }
    for name in ("ana", "bea", "cem", "gil"):
        texts = " ".join(one["content"] for one in all_of(moved.person(f"{name}@example.com")))
        for secret, readers in secrets.items():
            assert (secret in texts) == (name in readers), (name, secret)


def test_files_and_pictures_of_the_dump_are_there(moved: Moved) -> None:
    bea = moved.person("bea@example.com")
    wait_for_pictures(moved.imported.stage, moved.imported.report["realm_id"])
    content = the_one(all_of(bea), "<p>the same file</p>")["content"]
    assert fetch(bea, content.partition('href="')[2].partition('"')[0]).content == b"the plan"
    [emoji] = [one for one in bea.get("realm/emoji")["emoji"].values() if one["name"] == "party_cat"]
    assert fetch(bea, emoji["source_url"]).status_code == 200
    members = {one["full_name"]: one for one in bea.get("users")["members"]}
    assert fetch(bea, members["Bea Bold"]["avatar_url"]).status_code == 200
    assert members["Ana Admin"]["role"] == 100
    assert members["Gil Guest"]["role"] == 600
    assert members["Cem"]["is_imported_stub"]


def test_a_dry_run_writes_nothing_and_counts_what_the_import_counted(moved: Moved, tmp_path: Path) -> None:
    report, name = tmp_path / "report.jsonl", fresh_name()
    options = ("--owner", "ana@example.com", "--dry-run", "--report", str(report))
    done = tertulia(*command(moved.file, name, *options), env=environment(moved.server))
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["counts"] == moved.imported.report["counts"]
    assert moved.imported.stage.sql("select count(*) from realm where subdomain = %s", name) == [(0,)]
    summary, *cases = map(json.loads, report.read_text().splitlines())
    assert summary["lost"] == said["lost"]
    assert len(cases) >= 20


def test_what_is_no_dump_is_refused_with_a_sentence(moved: Moved, tmp_path: Path) -> None:
    done = tertulia(*command(tmp_path, fresh_name(), "--dry-run"), env=environment(moved.server))
    assert done.returncode != 0
    assert "no dump of Rocket.Chat" in done.stderr
