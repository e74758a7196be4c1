"""From a server of Discord to people who read their history here."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.features.archives.test_imports import Imported, environment, fresh_name, wait_for_pictures
from tests.features.archives.test_slack import Moved, all_of, the_one
from tests.harness import discord_export as discord
from tests.harness.command import tertulia
from tests.harness.files import fetch
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Backstage, Stage


def command(path: Path, subdomain: str, *options: str) -> tuple[str, ...]:
    users = str(path.with_name("users.csv"))
    return "import", "discord", str(path), "--subdomain", subdomain, "--users", users, "--json", *options


@pytest.fixture(scope="module")
def moved(server: Server, backstage: Backstage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moved]:
    if not isinstance(server, OwnServer):
        pytest.skip("needs the files of the server")
    folder = tmp_path_factory.mktemp("discord")
    path = discord.write(discord.server(), folder).folder
    names = {discord.ANA: "ana", discord.BEA: "bea", discord.CEM: "cem"}
    rows = [f"{id},{name}@example.com" for id, name in names.items()]
    (folder / "users.csv").write_text("\n".join(["id,email", *rows]))
    stage, subdomain = Stage(server, backstage), fresh_name()
    options = ("--owner", "ana@example.com", "--public", "general")
    done = tertulia(*command(path, subdomain, *options), env=environment(server))
    assert done.returncode == 0, done.stderr
    yield Moved(server, path, Imported(stage, subdomain, json.loads(done.stdout)))
    stage.close()


def test_people_read_in_order_what_was_said_with_its_threads_and_reactions(moved: Moved) -> None:
    messages = all_of(moved.person("bea@example.com"))
    texts = [one["content"] for one in messages if one["display_recipient"] == "general"]
    assert "hello <strong>all</strong>" in texts[0]
    assert texts[1:3] == ["<p>second</p>", "<p>in the same millisecond</p>"]
    assert [one["id"] for one in messages] == sorted(one["id"] for one in messages)
    assert the_one(messages, "<p>yes</p>")["subject"] == "Ship *it*"
    first = the_one(messages, "hello <strong>all</strong>")
    assert sorted(one["emoji_name"] for one in first["reactions"]) == ["+1", "+1", "partycat"]
    assert f'/near/{first["id"]}">what Ana said</a>' in the_one(messages, "what Ana said")["content"]
    assert f'/near/{first["id"]}">wrote</a>' in the_one(messages, "<p>an answer</p>")["content"]
    crew = the_one(messages, "/play")["content"]
    assert 'class="user-group-mention"' in crew
    assert 'class="spoiler-block"' in crew
    assert all("read" in one["flags"] for one in messages)


def test_only_what_the_operator_called_public_is_read_by_others(moved: Moved) -> None:
    secrets = {
        "secret of the staff": ("ana", "bea"),
        "secret of a thread": ("ana",),
        "secret of two": ("ana", "bea"),
        "unanswered": ("ana",),
        "my idea": ("cem",),
        "first: hello": ("ana", "bea", "cem"),
    }
    for name in ("ana", "bea", "cem"):
        texts = " ".join(one["content"] for one in all_of(moved.person(f"{name}@example.com")))
        for secret, readers in secrets.items():
            assert (secret in texts) == (name in readers), (name, secret)


def test_files_groups_and_pictures_of_the_export_are_there(moved: Moved) -> None:
    bea = moved.person("bea@example.com")
    wait_for_pictures(moved.imported.stage, moved.imported.report["realm_id"])
    content = the_one(all_of(bea), "<p>with a file</p>")["content"]
    assert fetch(bea, content.partition('href="')[2].partition('"')[0]).content == b"the plan"
    [emoji] = bea.get("realm/emoji")["emoji"].values()
    assert fetch(bea, emoji["source_url"]).status_code == 200
    [group] = [one for one in bea.get("user_groups")["user_groups"] if one["name"] == "Crew 1"]
    assert len(group["members"]) == 2
    members = {one["full_name"]: one for one in bea.get("users")["members"]}
    assert members["Ana Anders"]["role"] == 100
    assert members["helper"]["is_bot"]
    assert members["cem.k"]["is_imported_stub"]


def test_a_dry_run_writes_nothing_and_counts_what_the_import_counted(moved: Moved, tmp_path: Path) -> None:
    report, name, template = tmp_path / "report.jsonl", fresh_name(), tmp_path / "people.csv"
    options = ("--dry-run", "--report", str(report), "--users-template", str(template), "--public", "general")
    done = tertulia(*command(moved.file, name, *options), env=environment(moved.server))
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["counts"] == moved.imported.report["counts"]
    assert moved.imported.stage.sql("select count(*) from realm where subdomain = %s", name) == [(0,)]
    assert json.loads(report.read_text().splitlines()[0])["lost"] == said["lost"]
    assert f"{discord.BEA},Bea Bold,bea@example.com,member" in template.read_text().splitlines()


def test_what_is_no_export_is_refused_with_a_sentence(moved: Moved, tmp_path: Path) -> None:
    (tmp_path / "users.csv").write_text("id,email\n")
    (tmp_path / "empty").mkdir()
    done = tertulia(*command(tmp_path / "empty", fresh_name(), "--dry-run"), env=environment(moved.server))
    assert done.returncode != 0
    assert "no JSON file of DiscordChatExporter" in done.stderr
