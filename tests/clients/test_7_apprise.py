"""Apprise knows no other way than https and port 443: it comes to us through a front with a certificate."""

import ssl
from pathlib import Path

import pytest

from tertulia.kernel.db import Transaction
from tertulia.people.users.actions import create_api_key, create_user
from tests.clients.front import Front
from tests.clients.program import clean_environment, finished
from tests.harness.certificate import make_certificate
from tests.harness.server import MEMBER
from tests.harness.stage import Stage
from tests.harness.talk import unique

pytestmark = [pytest.mark.system, pytest.mark.clients]


@pytest.mark.client(
    "Apprise", "notifies a channel and a person, through TLS; a wrong key is an error", package="apprise"
)
def test_apprise_notifies_a_channel_and_a_person(apprise: Path, address: str, stage: Stage, folder: Path) -> None:
    person = stage.speaker()
    name, key = bot_of(stage)
    certificate, secret = make_certificate(folder)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, secret)
    body = unique("The backup is done")
    with Front(address, tls) as front:
        proxy = f"http://127.0.0.1:{front.port}"
        env = clean_environment(folder, https_proxy=proxy, NO_PROXY="", REQUESTS_CA_BUNDLE=str(certificate))

        def notify(key: str) -> int:
            url = f"zulip://{name}@127.0.0.1/{key}/general/{person.email}"
            done = finished([apprise / "apprise", "-vv", "-t", "Backup", "-b", body, url], env=env)
            return done.returncode

        assert notify(key) == 0
        assert front.count("POST /api/v1/messages") == 2
        assert notify("A" * 32) != 0
    [found] = person.window(before=1)["messages"]
    assert (found["type"], found["content"]) == ("private", f"<p>{body}</p>")
    [found] = person.window(before=1, narrow=[["channel", "general"], ["topic", "Backup"]])["messages"]
    assert found["content"] == f"<p>{body}</p>"


def bot_of(stage: Stage) -> tuple[str, str]:
    """A bot at the address by which Apprise knows us: its name and its key."""
    name = unique("backup").replace(" ", "")

    async def make(tx: Transaction) -> str:
        bot = await create_user(tx, stage.realm_id, f"{name}-bot@127.0.0.1", "Backup", MEMBER, bot_type=1)
        return await create_api_key(tx, bot)

    return name, stage.write(make)
