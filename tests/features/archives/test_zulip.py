"""From an organization of Zulip to people who read their history here."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.features.archives.test_imports import Imported, environment, fresh_name, wait_for_pictures
from tests.harness.command import tertulia
from tests.harness.files import fetch
from tests.harness.server import OwnServer, Server
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Json, Speaker
from tests.harness.zulip_export import organization


class Moved(NamedTuple):
    """An organization that came here."""

    server: OwnServer
    file: Path
    imported: Imported

    def person(self, name: str) -> Speaker:
        sql = "select id from account where realm_id = %s and email = %s"
        [(id,)] = self.imported.stage.sql(sql, self.imported.report["realm_id"], f"{name}@example.com")
        return self.imported.person(id)


def command(file: Path, subdomain: str, *options: str) -> tuple[str, ...]:
    return "import", "zulip", str(file), "--subdomain", subdomain, "--json", *options


@pytest.fixture(scope="module")
def moved(server: Server, backstage: Backstage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moved]:
    if not isinstance(server, OwnServer):
        pytest.skip("needs the files of the server")
    file = organization().write(tmp_path_factory.mktemp("zulip") / "acme.tar.gz")
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


def test_people_read_in_order_what_was_said_with_topics_reactions_and_links(moved: Moved) -> None:
    bea = moved.person("bea")
    messages = all_of(bea)
    assert [one["id"] for one in messages] == sorted(one["id"] for one in messages)
    first, second = the_one(messages, "hello <strong>all</strong>"), the_one(messages, "second, see")
    assert first["id"] < second["id"]
    assert first["subject"] == second["subject"] == "Plans"
    assert f'data-user-id="{bea.id}"' in first["content"]
    assert f"near/{first['id']}" in second["content"]
    assert sorted(one["reaction_type"] for one in first["reactions"])[0] == "realm_emoji"
    assert len(first["reactions"]) == 3
    assert the_one(messages, "in no topic")["subject"] in ("", "general chat")


def test_what_was_private_is_read_only_by_those_who_read_it_there(moved: Moved) -> None:
    readers = {
        "secret of the closed one": ("ana", "bea"),
        "secret of two, first": ("ana", "bea"),
        "secret of two, second": ("ana", "bea"),
        "three, first": ("ana", "bea", "cem"),
        "before Bea came": ("ana",),
        "after Bea came": ("ana", "bea"),
    }
    for name in ("ana", "bea", "cem", "gil"):
        texts = " ".join(one["content"] for one in all_of(moved.person(name)))
        for secret, who in readers.items():
            assert (secret in texts) == (name in who), (name, secret)


def test_what_was_read_and_starred_there_is_so_here(moved: Moved) -> None:
    flags = {one["content"]: one["flags"] for one in all_of(moved.person("bea"))}
    unread = [content for content, found in flags.items() if "read" not in found]
    assert len(unread) == 4
    assert any("plan.txt" in content for content in unread)
    assert "<p>secret of two, first</p>" in unread
    assert any("mentioned" in found for content, found in flags.items() if "hello" in content)
    starred = [one["content"] for one in all_of(moved.person("ana")) if "starred" in one["flags"]]
    assert len(starred) == 1
    assert "second, see" in starred[0]


def test_files_and_what_messages_were_before_are_there(moved: Moved) -> None:
    bea = moved.person("bea")
    wait_for_pictures(moved.imported.stage, moved.imported.report["realm_id"])
    messages = all_of(bea)
    content = the_one(messages, "plan.txt")["content"]
    path = content.partition('href="')[2].partition('"')[0]
    assert fetch(bea, path).content == b"the plan"
    first = the_one(messages, "hello <strong>all</strong>")
    history = bea.get(f"messages/{first['id']}/history")["message_history"]
    assert [one["content"] for one in history][:2] == ["first draft", "second draft"]
    assert [one["topic"] for one in history] == ["ideas", "ideas", "plans", "Plans"]


def test_the_owner_is_whom_the_operator_named_and_a_dry_run_counts_the_same(moved: Moved, tmp_path: Path) -> None:
    members = {one["full_name"]: one for one in moved.person("ana").get("users")["members"]}
    assert [members[name]["role"] for name in ("Ana Admin", "Bea", "Gil Guest")] == [100, 400, 600]
    assert members["Cem"]["is_imported_stub"]
    assert not members["Gone"]["is_active"]
    assert members["Helper"]["is_bot"]
    options = ("--dry-run", "--owner", "ana@example.com", "--report", str(tmp_path / "report"))
    done = tertulia(*command(moved.file, fresh_name(), *options), env=environment(moved.server))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["counts"] == moved.imported.report["counts"]
    refused = tertulia(*command(moved.file, fresh_name()), env=environment(moved.server))
    assert "--owner ADDRESS" in refused.stderr
