"""A newer archive of an organization that came from one."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.features.archives.asking import ask, run_chore, when_ended
from tests.features.archives.conftest import World
from tests.features.archives.test_hostile_archives import REFUSED, rewritten
from tests.features.archives.test_imports import (
    check_same_lines,
    command,
    environment,
    export_of,
    fresh_name,
    imported,
    same_for_everybody,
    wait_for_pictures,
)
from tests.features.files.test_attachments import sweep_unused
from tests.features.messaging.test_retention import age, expire, keep
from tests.harness.channels import make
from tests.harness.command import said_once, tertulia
from tests.harness.passwords import give_password
from tests.harness.server import OwnServer
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Speaker, check_error, check_success, unique


def go_on(world: World, first: int, second: int) -> Speaker:
    """People change what they had, and say more; returns somebody who came."""
    realm, public = world.realm, world.public.stream_id
    owner, member = realm.owner, realm.member
    new = member.send(public, "afterwards", f"more for @**|{owner.id}**")
    owner.post(f"messages/{new}/reactions", emoji_name="tada")
    check_success(owner.request("PATCH", f"messages/{first}", content="said otherwise now"))
    owner.delete(f"messages/{second}")
    made = make(realm, owner, member)
    owner.send(made.stream_id, "a new room", "hello")
    check_success(owner.request("PATCH", f"messages/{new}", topic="later on", propagate_mode="change_all"))
    check_success(owner.request("PATCH", "realm", description="Where we talk more"))
    check_success(member.request("PATCH", "settings", twenty_four_hour_time=False))
    owner.post("user_groups/create", name=unique("crew"), description="Us too", members=[owner.id, member.id])
    member.post("saved_snippets", title="Bye", content="Bye, all")
    return realm.speaker()


@pytest.fixture
def elsewhere(folder: Path) -> Iterator[Stage]:
    """A server that has nothing but its demo."""
    place = folder / "elsewhere"
    place.mkdir()
    server = OwnServer.start(place)
    backstage = Backstage(server)
    stage = Stage(server, backstage)
    yield stage
    stage.close()
    backstage.close()
    server.stop()


def test_a_newer_archive_takes_the_place_of_the_older_one_until_somebody_writes_here(
    world: World, elsewhere: Stage, folder: Path
) -> None:
    realm, stage, server, subdomain = world.realm, elsewhere, elsewhere.server, fresh_name()
    assert isinstance(server, OwnServer)
    env = environment(server)
    was = "--source-url", world.server.url.replace("://", f"://{realm.subdomain}.")
    said = [realm.owner.send(world.public.stream_id, "plans", f"to be changed {n}") for n in range(4)]
    go_on(world, *said[:2])  # other tests have imported there: what is newer has ids near the newest of each kind
    wait_for_pictures(realm.stage, realm.id)
    older = world.export(folder / "older.tar")
    kept = imported(server, stage, older.file, fresh_name())
    here = imported(server, stage, older.file, subdomain)
    shift = here.report["shifts"]["person"]
    [(taken,)] = stage.sql("select min((reserved->>'person')::bigint) from realm_import")
    assert min(one["user_id"] for one in realm.owner.get("users")["members"]) + shift > taken
    member = here.person(realm.member.id + shift)
    queue = member.register()
    known = {one["id"] for one in member.window("oldest", after=1000)["messages"]}

    leaver = go_on(world, *said[2:])
    wait_for_pictures(realm.stage, realm.id)
    newer = world.export(folder / "newer.tar")
    planned = tertulia(*command(newer.file, subdomain, "--dry-run"), env=env)
    assert planned.returncode == 0, planned.stderr
    assert json.loads(planned.stdout)["shifts"] == here.report["shifts"]
    with stage.session() as execute:
        execute("alter table reaction rename to taken_away")
    broken = tertulia(*command(newer.file, subdomain, *was), env=env)
    assert "reaction" in broken.stderr
    with stage.session() as execute:
        execute("alter table taken_away rename to reaction")
    check_error(member.request("GET", "users/me"), "UNAUTHORIZED", 401)
    assert "no half import" in said_once(tertulia("import", "remove", "--subdomain", subdomain, env=env))
    again = imported(server, stage, newer.file, subdomain, *was)
    assert again.report["went_on"]
    assert again.report["renewed"]
    assert again.report["shifts"] == here.report["shifts"]
    same_for_everybody(world, again, without="[0-9]+")
    check_same_lines(newer, export_of(server, subdomain, folder / "again.tar"), again.report["shifts"])
    now = {one["id"] for one in member.window("oldest", after=1000)["messages"]}  # by the key from before
    assert len(known - now) == 1  # deleted there
    assert now - known
    queue.check_ends()
    assert "was imported" in said_once(tertulia(*command(newer.file, subdomain), env=env))
    assert "nothing new" in said_once(tertulia(*command(older.file, subdomain), env=env))

    check_success(realm.owner.request("DELETE", f"users/{leaver.id}"))
    gone = again.person(leaver.id + shift)
    newest = world.export(folder / "newest.tar")
    imported(server, stage, newest.file, subdomain)
    assert gone.request("GET", "users/me").status_code == 401

    member.send([member.id], content="written here")
    latest = world.export(folder / "latest.tar")
    refused = said_once(tertulia(*command(latest.file, subdomain), env=env))
    assert re.search(r"Somebody has written here since: there are (conversations, )?messages\.", refused)
    assert member.get("users/me")["user_id"] == member.id
    assert imported(server, stage, latest.file, kept.subdomain).report["renewed"]


def test_whoever_had_a_bot_that_has_another_owner_in_a_newer_archive_has_no_key_of_it(
    world: World, elsewhere: Stage, folder: Path
) -> None:
    """As when it is handed over: from then on somebody else reads by it."""
    realm, stage, server = world.realm, elsewhere, elsewhere.server
    assert isinstance(server, OwnServer)
    given, kept = realm.bot(realm.member), realm.bot(realm.member)
    here = imported(server, stage, world.export(folder / "older.tar").file, fresh_name())
    shift = here.report["shifts"].get("person", 0)
    former, still = (here.person(bot.id + shift) for bot in (given, kept))
    former.request("PUT", "bot_storage", storage={"secret": "of the former owner"})
    check_success(realm.owner.request("PATCH", f"bots/{given.id}", bot_owner_id=realm.owner.id))
    imported(server, stage, world.export(folder / "newer.tar").file, here.subdomain)
    assert stage.sql("select bot_owner_id from account where id = %s", given.id + shift) == [(realm.owner.id + shift,)]
    assert former.request("GET", "users/me").status_code == 401
    assert still.get("users/me")["user_id"] == kept.id + shift
    assert stage.sql("select count(*) from bot_storage where user_id = %s", given.id + shift) == [(0,)]


def test_nothing_expires_while_a_newer_archive_still_comes(world: World, elsewhere: Stage, folder: Path) -> None:
    """What refers to it could not come any more, and nobody would get into the organization again."""
    realm, stage, server = world.realm, elsewhere, elsewhere.server
    assert isinstance(server, OwnServer)
    room = make(realm, realm.owner, realm.member)
    [old, new] = [realm.owner.send(room.stream_id, "tea", f"message {number}") for number in range(2)]
    realm.member.post("messages/flags", messages=[old, new], op="add", flag="starred")
    keep(realm, 30)
    older = world.export(folder / "older.tar")
    keep(realm, '"unlimited"')
    age(realm, 40, old)
    here = imported(server, stage, older.file, fresh_name())
    newer = world.export(folder / "newer.tar")
    with stage.session() as execute:
        execute("alter table message_mark rename to taken_away")
    assert "message_mark" in tertulia(*command(newer.file, here.subdomain), env=environment(server)).stderr
    with stage.session() as execute:
        execute("alter table taken_away rename to message_mark")
    expire(stage)
    assert imported(server, stage, newer.file, here.subdomain).report["went_on"]
    shift = here.report["shifts"].get("message", 0)
    found = stage.sql("select count(*) from message where id = any(%s)", [old + shift, new + shift])
    assert found == [(2,)]


def test_an_import_that_goes_on_after_weeks_finds_its_files(world: World, elsewhere: Stage, folder: Path) -> None:
    """No message links them yet, and files that no message links are deleted after a while."""
    stage, server, subdomain = elsewhere, elsewhere.server, fresh_name()
    assert isinstance(server, OwnServer)
    env = environment(server)
    whole = world.export(folder / "whole.tar")
    with stage.session() as execute:
        execute("alter table reaction rename to taken_away")
    assert "reaction" in tertulia(*command(whole.file, subdomain), env=env).stderr
    with stage.session() as execute:
        execute("alter table taken_away rename to reaction")
    stage.sql("update attachment set unlinked_at = now() - interval '31 days', created_at = now() - interval '31 days'")
    sweep_unused(stage)
    here = imported(server, stage, whole.file, subdomain)
    assert here.report["went_on"]
    found = stage.sql("select count(*) from attachment where realm_id = %s", here.report["realm_id"])
    assert found == [(whole.manifest["counts"]["files"],)]


def test_a_newer_archive_that_cannot_come_takes_nothing_away(world: World, elsewhere: Stage, folder: Path) -> None:
    """From a server that knows more: nobody would get into the organization before this one does, too."""
    realm, stage, server = world.realm, elsewhere, elsewhere.server
    assert isinstance(server, OwnServer)
    here = imported(server, stage, world.export(folder / "older.tar").file, fresh_name())
    member = here.person(realm.member.id + here.report["shifts"].get("person", 0))
    newer = world.export(folder / "newer.tar")
    for what in ("a zone that is nowhere", "a permission of a newer program"):
        change, said = REFUSED[what]
        file = rewritten(newer, folder / "changed.tar", change)
        assert said in tertulia(*command(file, here.subdomain), env=environment(server)).stderr
        assert member.get("users/me")["user_id"] == member.id


def test_an_export_that_was_asked_for_waits_until_a_newer_archive_has_come(
    world: World, elsewhere: Stage, folder: Path
) -> None:
    """Otherwise it would be said to be ready, with what is there by chance."""
    realm, stage, server = world.realm, elsewhere, elsewhere.server
    assert isinstance(server, OwnServer)
    here = imported(server, stage, world.export(folder / "older.tar").file, fresh_name())
    owner = here.person(realm.owner.id + here.report["shifts"].get("person", 0))
    give_password(stage, owner)
    newer = world.export(folder / "newer.tar")
    with server.paused("worker"):
        export_id = ask(owner)
        with stage.session() as execute:
            execute("alter table reaction rename to taken_away")
        assert "reaction" in tertulia(*command(newer.file, here.subdomain), env=environment(server)).stderr
        with stage.session() as execute:
            execute("alter table taken_away rename to reaction")
        run_chore(server, "build")
    assert stage.sql("select ended is null from export_job where id = %s", export_id) == [(True,)]
    imported(server, stage, newer.file, here.subdomain)
    assert when_ended(owner, export_id)["messages_done"] > 5
