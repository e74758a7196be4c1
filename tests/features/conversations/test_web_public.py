"""Channels that are open to the web: three conditions to make one, and what everybody may do in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.subscribing import ask, find, join, members, sees
from tests.harness.realm import Realm
from tests.harness.server import GUEST, OWNER, Server
from tests.harness.stage import Stage, Web
from tests.harness.talk import Speaker, check_error, check_success, unique


@pytest.fixture
def web(server: Server, folder: Path) -> Iterator[Web]:
    """A web process of a server that allows such channels."""
    web = Web(server, folder, web_public_streams_enabled="true")
    try:
        yield web.wait()
    finally:
        web.kill()


def _set(owner: Speaker, *, spectators: bool) -> None:
    check_success(owner.request("PATCH", "realm", enable_spectator_access=spectators))


@pytest.mark.holds("channel.web-public", "channel.web-public-conditions")
def test_a_channel_open_to_the_web(realm: Realm, stage: Stage, web: Web) -> None:
    owner, member, guest = (realm.speaker(role, url=web.url) for role in (OWNER, 400, GUEST))
    nobody = stage.nobody(url=web.url, host=realm.host)
    name = unique("channel")
    check_error(ask(owner, name, is_web_public=True))  # the organization does not allow it
    _set(owner, spectators=True)
    _check_only_owners(member, name)
    check_error(ask(owner, name, is_web_public=True, invite_only=True))
    join(owner, name, is_web_public=True)
    channel = find(member, name)
    assert (channel["is_web_public"], channel["history_public_to_subscribers"]) == (True, True)
    number = channel["stream_id"]
    owner.send(number, "said")
    assert sees(guest, channel)
    guest.send(number, "said by a guest")
    topics = f"users/me/{number}/topics"
    assert nobody.get(topics) == guest.get(topics)
    check_error(guest.request("GET", f"streams/{number}/members"))
    assert members(member, channel) == [owner.id]
    listed = guest.get("streams", include_public=False, include_subscribed=False, include_web_public=True)["streams"]
    assert [one["stream_id"] for one in listed] == [number]
    private = unique("channel")
    join(owner, private)
    closed = find(owner, private)["stream_id"]
    check_error(nobody.request("GET", f"users/me/{closed}/topics"), "STREAM_DOES_NOT_EXIST", stream_id=closed)
    _set(owner, spectators=False)
    assert nobody.request("GET", topics).status_code == 401


def _check_only_owners(member: Speaker, name: str) -> None:
    state = member.post("register", event_types=[], fetch_event_types=["realm_user", "realm"])
    assert (state["can_create_web_public_streams"], state["server_web_public_streams_enabled"]) == (False, True)
    check_error(ask(member, name, is_web_public=True))
