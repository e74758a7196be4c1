"""Imports: an organization that comes back is the one that left."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tertulia.people.users.actions import create_api_key
from tests.features.archives.conftest import Archive, World
from tests.harness.command import said_once, tertulia
from tests.harness.server import OwnServer, User
from tests.harness.stage import Backstage, Stage
from tests.harness.talk import Json, Speaker, check_error, check_success, eventually, unique

DIFFERENT = {
    "queue_id": "a queue of its own",
    "last_event_id": "a log of its own",
    "realm_uuid": "another organization",
    "users_version": "counts the changes of people here",
    "server_timestamp": "the time of the request",
    "realm_uri": "another address",
    "realm_url": "another address",
    "bot_domain": "another address",
    "realm_bot_domain": "another address",
    "realm_incoming_webhook_bots": "their keys are other ones",
}
"""Keys of the state that must differ, and why. Besides: names of pictures are random (`told`)."""
_PICTURES = re.compile(r"(/user_avatars/\d+/(?:emoji/images/)?(?:realm/\w+/)?)[0-9a-f]{16,40}")


class Imported(NamedTuple):
    """The organization where it came to."""

    stage: Stage
    realm_id: int
    subdomain: str
    report: Json
    server: OwnServer

    def person(self, user_id: int) -> Speaker:
        key = self.stage.write(lambda tx: create_api_key(tx, user_id))
        [(email, role)] = self.stage.sql("select email, role from account where id = %s", user_id)
        return self.stage.speaker(User(user_id, email, None, key, role), host=f"{self.subdomain}.localhost")


def imported(server: OwnServer, stage: Stage, file: Path, subdomain: str, *options: str) -> Imported:
    env = server.environment()
    done = tertulia("import", "archive", str(file), "--subdomain", subdomain, "--json", *options, env=env)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    return Imported(stage, report["realm_id"], subdomain, report, server)


@pytest.fixture(scope="session")
def beside(world: World, everything: Archive, backstage: Backstage) -> Iterator[Imported]:
    """On the same server, at another address."""
    stage = Stage(world.server, backstage)
    yield imported(world.server, stage, everything.file, unique("beside").replace(" ", "-"))
    stage.close()


def told(found: object, *addresses: str) -> str:
    text = _PICTURES.sub(r"\1-", json.dumps(found, indent=1, ensure_ascii=False))
    for address in addresses:
        text = text.replace(address, "here")
    return text


def state_of(speaker: Speaker) -> Json:
    state = speaker.post("register", client_capabilities={"notification_settings_null": True})
    return {key: value for key, value in state.items() if key not in DIFFERENT}


def messages_of(speaker: Speaker) -> list[Json]:
    found: list[Json] = speaker.window("oldest", after=1000, apply_markdown=True)["messages"]
    return found


def without_digits(text: str) -> str:
    return re.sub(r"[0-9]+", "0", text)


def test_on_the_same_server_everybody_finds_what_they_had_with_other_ids(world: World, beside: Imported) -> None:
    shift = beside.report["shifts"]["person"]
    for speaker in world.realm.all:
        here = beside.person(speaker.id + shift)
        for look in (state_of, messages_of):
            was = without_digits(told(look(speaker), world.realm.subdomain))
            assert without_digits(told(look(here), beside.subdomain)) == was
