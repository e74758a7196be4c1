"""Exports: what is in them, and what is not."""

import asyncio
import hashlib
import json
import stat
from pathlib import Path

import msgspec
import pytest

from tertulia.archives.errors import ArchiveFailed
from tertulia.archives.form.kinds import KINDS
from tertulia.archives.form.manifest import Manifest
from tertulia.archives.writing.actions import Progress, WrittenFile, export_realm
from tertulia.archives.writing.scope import Asked
from tertulia.content.storage import Store
from tertulia.kernel.db import Database
from tertulia.kernel.settings import load_settings
from tests.features.archives.conftest import Archive, World
from tests.harness.command import said_once, tertulia
from tests.harness.talk import check_success


def test_every_kind_is_in_an_archive_and_fits_its_type_and_its_sum(everything: Archive) -> None:
    assert set(everything.manifest["counts"]) == set(KINDS)
    for kind, record in KINDS.items():
        lines = everything.lines(kind)
        assert len(lines) == everything.manifest["counts"][kind]
        for line in lines:
            msgspec.convert(line, record, strict=True)
    for part in everything.manifest["parts"]:
        content = everything.entries[part["name"]]
        assert part == {
            "name": part["name"],
            "lines": content.count(b"\n"),
            "bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
    assert stat.S_IMODE(everything.file.stat().st_mode) == 0o600


def test_an_archive_of_each_scope_is_good_and_one_with_a_changed_byte_is_not(
    world: World, everything: Archive, folder: Path
) -> None:
    for scope in ("everything", "consenting", "public"):
        good = world.export(folder / f"{scope}.tar", scope).file
        done = tertulia("archive", "check", str(good), "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["scope"] == scope
    bad = folder / "bad.tar"
    bad.write_bytes(everything.file.read_bytes().replace(b"first text", b"first test"))
    assert "The sum of messages/000001.jsonl" in said_once(tertulia("archive", "check", str(bad)))


def test_messages_have_their_history_reactions_votes_files_and_pins(world: World, everything: Archive) -> None:
    messages = {one["content"]: one for one in everything.lines("messages")}
    [first] = [one for text, one in messages.items() if text.startswith("Open:")]
    assert {one["emoji_name"] for one in first["reactions"]} == {"tada", "party"}
    assert [text for text, one in messages.items() if "pinned" in one] == [first["content"]]
    [file] = [one for one in everything.lines("files") if one["id"] in first["files"]]
    assert everything.entries[f"blobs/file/{file['id']}"] == b"the plan"
    assert file["content"]["sha256"] == hashlib.sha256(b"the plan").hexdigest()
    assert [one["content"] for one in messages["first text"]["changes"]] == ["frist text"]
    assert [one["new_channel_id"] for one in messages["from a closed room"]["changes"]] == [world.public.stream_id]
    poll = next(one for text, one in messages.items() if text.startswith("/poll"))
    assert [one["sender_id"] for one in poll["submessages"]] == [world.realm.owner.id, world.realm.member.id]
    assert not any("to be deleted" in text for text in messages)
    assert [one["new_topic"] for one in everything.lines("topic_changes")] == ["ideas"]


def test_no_archive_holds_a_credential_or_html(world: World, everything: Archive) -> None:
    stage, text = world.realm.stage, everything.text()
    [(note,)] = stage.sql("select settings->>'_picture_key' from realm where id = %s", world.realm.id)
    sql = "select encode(digest, 'hex') from api_key where user_id = %s"
    secrets = [note, *(digest for one in world.realm.all for (digest,) in stage.sql(sql, one.id))]
    assert len(secrets) > len(world.realm.all)
    for secret in (*secrets, *(one.user.api_key for one in world.realm.all), "<strong>bold"):
        assert secret.encode() not in text


def test_public_data_is_that_of_open_channels_and_nobodys_own(world: World, folder: Path) -> None:
    found = world.export(folder / "public.tar", "public")
    assert {one["id"] for one in found.lines("channels")} == {world.public.stream_id}
    assert {one["conversation_id"] for one in found.lines("messages")} == {world.public.stream_id}
    for kind in ("directs", "read_states", "marks", "drafts", "snippets", "scheduled_messages", "reminders"):
        assert found.lines(kind) == []
    assert all(one.get("private") is None for one in found.lines("people"))
    assert all(one["choices"] is None for one in found.lines("subscriptions"))
    everything = found.text() + b"".join(found.entries.values())
    for secret in (b"secret of", b"secret before", b"shared file", b"draft of", b"word of the member", b"#123456"):
        assert secret not in everything
    [message] = [one for one in found.lines("messages") if one["content"] == "from a closed room"]
    assert "changes" not in message  # which channel it came from is not public


def test_what_the_organization_shows_nobody_of_changes_leaves_only_with_everything(world: World, folder: Path) -> None:
    for policy, said in (("all", {"content", "topic"}), ("moves", {"topic"}), ("none", set[str]())):
        check_success(world.realm.owner.request("PATCH", "realm", message_edit_history_visibility_policy=policy))
        found = world.export(folder / f"{policy}.tar", "public")
        [message] = [one for one in found.lines("messages") if one["content"] == "first text"]
        told = [*message.get("changes", []), *found.lines("topic_changes")]
        assert {key for change in told for key in change if change[key]} & {"content", "topic"} == said
    whole = world.export(folder / "whole.tar", "everything")
    check_success(world.realm.owner.request("PATCH", "realm", message_edit_history_visibility_policy="all"))
    assert b"frist text" in whole.text()


def test_of_those_who_agree_their_private_data_leaves_and_what_they_could_read(world: World, folder: Path) -> None:
    administrator = world.realm.administrator
    check_success(administrator.request("PATCH", "settings", allow_private_data_export=True))
    stage = world.realm.stage
    stage.remove(world.protected, administrator)
    world.realm.owner.send(world.protected.stream_id, "after", "secret after the administrator left")
    world.realm.owner.send([administrator.id], content="told to the administrator")
    found = world.export(folder / "agreed.tar", "consenting")
    check_success(administrator.request("PATCH", "settings", allow_private_data_export=False))
    contents = " ".join(one["content"] for one in found.lines("messages"))
    for told in ("secret of the shared channel", "secret before the administrator", "told to the administrator"):
        assert told in contents
    for kept in (b"secret after", b"secret of two", b"secret of three", b"draft of", b"word of the member"):
        assert kept not in found.text()
    assert [one["id"] for one in found.lines("people") if one["private"]] == [administrator.id]
    assert {one["user_id"] for one in found.lines("read_states")} == {administrator.id}
    assert {one["name"] for one in found.lines("topics")} >= {"before", "closed"}
    assert "after" not in {one["name"] for one in found.lines("topics")}


def test_an_export_is_of_one_moment_while_people_go_on(world: World, folder: Path) -> None:
    owner, public = world.realm.owner, world.public.stream_id
    early = owner.send(public, "plans", "said before the export")
    late: list[int] = []

    def while_it_runs(_text: str, _done: int, _total: int) -> None:
        if not late:
            owner.delete(f"messages/{early}")
            late.append(owner.send(public, "plans", "said during the export"))

    made = exported(world, folder / "moment.tar", while_it_runs)
    assert late
    contents = [one["content"] for one in Archive.read(folder / "moment.tar").lines("messages")]
    assert ("said before the export" in contents, "said during the export" in contents) == (True, False)
    assert made.counts["messages"] == len(contents)


def test_an_export_that_fails_leaves_nothing_and_says_why(world: World, folder: Path) -> None:
    def stop(_text: str, _done: int, _total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exported(world, folder / "stopped.tar", stop)
    assert list(folder.iterdir()) == []
    with pytest.raises(ArchiveFailed, match="No such file"):
        exported(world, folder / "nowhere" / "a.tar", stop)
    with Path("/dev/full").open("wb", buffering=0) as full, pytest.raises(ArchiveFailed, match="No space left"):
        WrittenFile(full).write(b"text")


def exported(world: World, file: Path, progress: Progress) -> Manifest:
    settings = load_settings(env=world.server.environment())

    async def run() -> Manifest:
        async with await Database.connect(settings.postgres_url, shards=settings.shards, size=1) as database:
            return await export_realm(database, Store(settings), Asked(world.realm.id, "everything"), file, progress)

    return asyncio.run(run())


def test_a_file_that_is_there_is_not_overwritten(world: World, everything: Archive) -> None:
    env = world.server.environment()
    assert "already" in said_once(tertulia("export", world.realm.subdomain, str(everything.file), env=env))
    assert "no organization" in said_once(tertulia("export", "nowhere", "nothing.tar", env=env))
