"""Imports: an organization that comes back is the one that left."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tertulia.people.users.actions import create_api_key
from tests.features.archives.conftest import Archive, World
from tests.harness.command import said_once, tertulia
from tests.harness.server import OwnServer, User
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Json, Speaker, check_error, eventually, unique

DIFFERENT = {
    "queue_id": "a queue of its own",
    "last_event_id": "a log of its own",
    "realm_uuid": "it is another organization",
    "server_generation": "when the server was started",
    "server_timestamp": "the time of the request",
    "presences": "who is there now is not in archives",
    "presence_last_update_id": "and neither is how often that changed",
}
"""Keys of the state that must differ, and why. Besides: names of pictures are random, and addresses are others (`told`)."""
_PICTURES = re.compile(r"(/user_avatars/\d+/(?:emoji/images/)?(?:realm/\w+/)?)[0-9a-f]{16,40}")
_TOKENS = re.compile(r'"token": "\w{32}"')
_VERSIONS = re.compile(r"\?v(ersion)?=\d+|\"avatar_version\": \d+")

MOMENTS = (
    *("group_member", "alert_word", "topic_participant", "subscription", "reaction", "attachment_link"),
    *("read_state", "message_mark", "topic_policy", "upload_space"),
)
"""Tables at which an import is killed, in the order in which they are written."""
WORKED_ON = {"orphan_object", "mail_batch", "missed_message", "reply_address", "push_due", "login_place"}
CHOSEN = MOMENTS if os.environ.get("IMPORT_KILLS") == "all" else MOMENTS[::4]


class Imported(NamedTuple):
    """The organization where it came to."""

    stage: Stage
    subdomain: str
    report: Json

    def person(self, user_id: int) -> Speaker:
        key = self.stage.write(lambda tx: create_api_key(tx, user_id))
        [(email, role)] = self.stage.sql("select email, role from account where id = %s", user_id)
        return self.stage.speaker(User(user_id, email, None, key, role), host=f"{self.subdomain}.localhost")


def command(file: Path, subdomain: str, *options: str) -> tuple[str, ...]:
    return "import", "archive", str(file), "--subdomain", subdomain, "--json", *options


def environment(server: OwnServer) -> dict[str, str]:
    return server.environment(external_host=server.url.partition("://")[2])


def imported(server: OwnServer, stage: Stage, file: Path, subdomain: str, *options: str) -> Imported:
    done = tertulia(*command(file, subdomain, *options), env=environment(server))
    assert done.returncode == 0, done.stderr
    return Imported(stage, subdomain, json.loads(done.stdout))


def wait_for_pictures(stage: Stage, realm_id: int) -> None:
    """The worker makes thumbnails, and then messages show them."""
    sql = """
    select count(*) from attachment left join attachment_link on attachment_id = id
    where realm_id = %s and (thumbnail = 1 or is_waiting)
    """
    eventually(lambda: stage.sql(sql, realm_id) == [(0,)])


def fresh_name() -> str:
    return unique("moved").replace(" ", "-")


@pytest.fixture(scope="module")
def whole(world: World, tmp_path_factory: pytest.TempPathFactory) -> Archive:
    """As the organization is now: other tests have changed it. Its pictures have been made."""
    wait_for_pictures(world.realm.stage, world.realm.id)
    return world.export(tmp_path_factory.mktemp("whole") / "whole.tar")


@pytest.fixture(scope="module")
def beside(world: World, whole: Archive, backstage: Backstage) -> Iterator[Imported]:
    """On the same server, at another address."""
    stage = Stage(world.server, backstage)
    yield imported(world.server, stage, whole.file, fresh_name())
    stage.close()


@pytest.fixture(scope="module")
def elsewhere(world: World, whole: Archive, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Imported]:
    """On a server that has nothing but its demo, at the same address."""
    server = OwnServer.start(tmp_path_factory.mktemp("elsewhere"))
    backstage = Backstage(server)
    stage = Stage(server, backstage)
    was = world.server.url.replace("://", f"://{world.realm.subdomain}.")
    yield imported(server, stage, whole.file, world.realm.subdomain, "--source-url", was)
    stage.close()
    backstage.close()
    server.stop()


def told(found: object, stage: Stage, subdomain: str) -> str:
    text = _PICTURES.sub(r"\1-", json.dumps(found, indent=1, ensure_ascii=False))
    text = _TOKENS.sub('"token": "its own"', text)  # of outgoing webhooks: archives have no credentials
    text = _VERSIONS.sub("version", text).replace(stage.server.url.rpartition(":")[2], "port")
    return text.replace(subdomain, "here")


def state_of(speaker: Speaker) -> Json:
    state = speaker.post("register")
    return {key: value for key, value in state.items() if key not in DIFFERENT}


def messages_of(speaker: Speaker) -> list[Json]:
    found: list[Json] = speaker.window("oldest", after=1000)["messages"]
    return found


def same_for_everybody(world: World, here: Imported, *, without: str) -> None:
    """Each person's state and messages, here and where they came from."""
    shift = here.report["shifts"].get("person", 0)
    wait_for_pictures(here.stage, here.report["realm_id"])
    there = Imported(world.realm.stage, world.realm.subdomain, {})
    for speaker in world.realm.all:
        same_for(speaker, there, here.person(speaker.id + shift), here, without=without)


def same_for(was: Speaker, there: "Imported", now: Speaker, here: "Imported", *, without: str = "nothing") -> None:
    """One person's state and messages."""
    for look in (messages_of, state_of):
        texts = told(look(was), there.stage, there.subdomain), told(look(now), here.stage, here.subdomain)
        before, after = (re.sub(without, "0", text).splitlines() for text in texts)
        found = "\n".join(unified_diff(before, after, n=1, lineterm=""))
        assert not found, found


def test_on_another_server_everybody_finds_what_they_had_with_the_same_ids(world: World, elsewhere: Imported) -> None:
    assert elsewhere.report["shifts"] == {}
    same_for_everybody(world, elsewhere, without="nothing")


def test_on_the_same_server_everybody_finds_what_they_had_with_other_ids(world: World, beside: Imported) -> None:
    assert {"realm", "person", "conversation", "message", "file"} <= beside.report["shifts"].keys()
    same_for_everybody(world, beside, without="[0-9]+")


FAMILIES = {
    **dict.fromkeys(("user_id", "sender_id", "owner_id", "creator_id", "author_id"), "person"),
    **dict.fromkeys(("members", "user_ids"), "person"),
    **dict.fromkeys(("conversation_id", "channel_id", "new_channel_id", "sending_channel_id"), "conversation"),
    **dict.fromkeys(("subgroups", "permissions"), "group"),
    "topic_id": "topic",
    "folder_id": "folder",
    "field_id": "field",
    "message_id": "message",
    "files": "file",
    "topic_since": "change",
}
OWN = {
    "organization": "realm",
    "groups": "group",
    "people": "person",
    "profile_fields": "field",
    "emoji": "emoji",
    "linkifiers": "linkifier",
    "playgrounds": "playground",
    "folders": "folder",
    "channels": "conversation",
    "directs": "conversation",
    "topics": "topic",
    "files": "file",
    "messages": "message",
    "changes": "change",
    "submessages": "submessage",
    "topic_changes": "change",
    "drafts": "draft",
    "snippets": "snippet",
    "scheduled_messages": "message",
    "reminders": "reminder",
}
"""Whose ids the keys have that are called so; and `id` in lines and parts of this kind."""
TEXTS = {"content", "value", "path", "emoji_code", "picture", "avatar", "subdomain", "settings"}
"""Compared without digits or not here: ids in them are the other test's; pictures are encoded anew."""


def moved(found: Any, kind: str, shifts: dict[str, int]) -> Any:
    """A line as it should be after the move."""
    if isinstance(found, list):
        return [moved(one, kind, shifts) for one in found]
    if not isinstance(found, dict):
        return found
    made: dict[str, Any] = {}
    for key, value in found.items():
        family = OWN.get(kind) if key == "id" else FAMILIES.get(key, "person" if key == "participants" else None)
        shift = shifts.get(family or "", 0)
        if key in TEXTS:
            continue
        if family is not None and isinstance(value, int):
            made[key] = value + shift if value else value
        elif family is not None and isinstance(value, list):
            made[key] = [one + shift for one in value]
        elif family is not None and isinstance(value, dict):
            made[key] = {name: one + shift for name, one in value.items()}
        else:
            made[key] = moved(value, key if key in OWN else kind, shifts)
    return made


def check_same_lines(whole: Archive, again: Archive, shifts: dict[str, int]) -> None:
    """An export of what was imported has the lines of the archive, each id moved by its family's distance."""
    assert again.manifest["counts"] == whole.manifest["counts"]
    for kind in whole.manifest["counts"]:
        assert [moved(one, kind, {}) for one in again.lines(kind)] == [
            moved(one, kind, shifts) for one in whole.lines(kind)
        ]


def export_of(server: OwnServer, subdomain: str, file: Path) -> Archive:
    done = tertulia("export", subdomain, str(file), env=server.environment())
    assert done.returncode == 0, done.stderr
    return Archive.read(file)


def test_what_was_imported_is_exported_again_with_each_id_moved_by_one_distance(
    world: World, whole: Archive, beside: Imported, folder: Path
) -> None:
    shifts = beside.report["shifts"]
    again = export_of(world.server, beside.subdomain, folder / "again.tar")
    check_same_lines(whole, again, shifts)
    [was], [now] = ([one for one in found.lines("messages") if "[a](" in one["content"]] for found in (whole, again))
    ids = [(world.public.stream_id, shifts["conversation"]), (None, shifts["message"])]
    near = re.findall(r"channel/(\d+)-x/topic/plans/near/(\d+)", was["content"])
    expected = [(str(int(a) + ids[0][1]), str(int(b) + ids[1][1])) for a, b in near]
    found = re.findall(r"channel/(\d+)-x/topic/plans/near/(\d+)", now["content"])
    assert found == [*expected[:2], near[2]]  # the third leads to another host
    assert f"/user_uploads/{beside.report['realm_id']}/" in now["content"]
    assert f"@{int(near[0][1]) + shifts['message']}**" in now["content"]
    vote = next(
        one for line in again.lines("messages") for one in line.get("submessages", ()) if "vote" in one["content"]
    )
    assert vote
    path = next(one["path"] for one in again.lines("files") if one["name"] == "plan.txt")
    member = beside.person(world.realm.member.id + shifts["person"])
    assert member.http.get(f"{world.server.url}/user_uploads/{path}").content == b"the plan"


def test_an_import_that_is_killed_goes_on_where_it_was_and_nobody_sees_it_before_it_is_whole(
    world: World, whole: Archive, folder: Path
) -> None:
    stage, subdomain, env = world.realm.stage, fresh_name(), environment(world.server)
    visitor = stage.nobody(host=f"{subdomain}.localhost")
    absent = stage.nobody(host="nowhere.localhost").request("GET", "server_settings").json()
    dry = tertulia(*command(whole.file, subdomain, "--dry-run"), env=env)
    assert json.loads(dry.stdout)["counts"] == whole.manifest["counts"]
    assert stage.sql("select count(*) from realm where subdomain = %s", subdomain) == [(0,)]
    sent = []
    for table in CHOSEN:
        with stage.session() as execute:
            execute(f"lock table {table} in share mode")
            process = subprocess.Popen(
                [sys.executable, "-m", "tertulia", *command(whole.file, subdomain)], env=env, stderr=subprocess.PIPE
            )
            eventually(lambda: is_waiting(stage), seconds=90)
            assert visitor.request("GET", "server_settings").json() == absent
            login = {"username": world.realm.owner.email, "password": "wrong"}
            check_error(visitor.request("POST", "fetch_api_key", **login), "NONEXISTENT_SUBDOMAIN", 404)
            process.kill()
            process.communicate()
        sent.append(world.realm.owner.send([world.realm.owner.id], content="meanwhile"))
    assert "no organization" in said_once(tertulia("realm", "reactivate", "--realm", subdomain, env=env))
    assert "no organization" in said_once(tertulia("export", subdomain, str(folder / "half.tar"), env=env))
    done = imported(world.server, stage, whole.file, subdomain)
    assert done.report["went_on"]
    again = export_of(world.server, subdomain, folder / "again.tar")
    check_same_lines(whole, again, done.report["shifts"])
    ids = {one["id"] for one in again.lines("messages")}
    assert min(ids) < min(sent)
    assert not ids & set(sent)
    assert max(ids) < min(sent)  # whoever sent meanwhile got ids after those that were reserved
    assert "was imported" in said_once(tertulia(*command(whole.file, subdomain), env=env))


def is_waiting(stage: Stage) -> bool:
    """Whether the import waits for a table that the test holds."""
    sql = "select count(*) from pg_stat_activity where application_name like '%%import%%' and wait_event_type = 'Lock'"
    return stage.sql(sql) != [(0,)]


def test_a_half_import_is_removed_with_all_that_it_brought(world: World, whole: Archive) -> None:
    stage, subdomain, env = world.realm.stage, fresh_name(), environment(world.server)
    with world.server.paused("worker"):  # which writes rows of its own for others
        before = rows(stage)
        with stage.session() as execute:
            execute("lock table upload_space in share mode")  # the last transaction writes it
            process = subprocess.Popen(
                [sys.executable, "-m", "tertulia", *command(whole.file, subdomain)], env=env, stderr=subprocess.PIPE
            )
            eventually(lambda: is_waiting(stage), seconds=90)
            process.kill()
            process.communicate()
        [(realm_id,)] = stage.sql("select id from realm where subdomain = %s", subdomain)
        brought = {table for table, count in rows(stage).items() if count > before[table]}
        assert brought >= set(MOMENTS) - {"upload_space"}
        assert objects(world, realm_id)
        stage.sql("update realm_import set stage = 'removing' where realm_id = %s returning 1", realm_id)
        assert "is being removed" in said_once(tertulia(*command(whole.file, subdomain), env=env))
        removed = tertulia("import", "remove", "--subdomain", subdomain, env=env)
        assert removed.returncode == 0, removed.stderr
        assert rows(stage) == before
    eventually(lambda: not objects(world, realm_id))
    for where in (subdomain, world.realm.subdomain):
        assert "no half import" in said_once(tertulia("import", "remove", "--subdomain", where, env=env))


def objects(world: World, realm_id: int) -> list[Path]:
    """In the store, in the folders of its own: a part of another organization's key may look like its number."""
    return [path for path in Path(world.server.files).glob(f"*/{realm_id}/**/*") if path.is_file()]


def rows(stage: Stage) -> dict[str, int]:
    """How many each table has, but for those in which the worker notes what it does for others."""
    found = {table for (table,) in stage.sql("select relname from pg_stat_user_tables")} - WORKED_ON
    return {table: stage.sql(f"select count(*) from {table}")[0][0] for table in sorted(found)}
