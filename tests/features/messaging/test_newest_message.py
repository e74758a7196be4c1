"""The newest message that somebody received: it is told at each registration, and looked for among the last ones of all first."""

import pytest

from tertulia.people.users.queries import LAST
from tests.contract.changes import edit
from tests.harness.realm import Realm
from tests.harness.server import Channel

QUIET = {"send_notification_to_new_thread": False}


@pytest.fixture
def channel(realm: Realm) -> Channel:
    """A public channel with everybody in it."""
    return realm.stage.channel(*realm.all, realm_id=realm.id)


@pytest.mark.parametrize("others_write", [0, LAST])
def test_the_newest_message_is_the_one_with_the_highest_id(realm: Realm, channel: Channel, others_write: int) -> None:
    other = realm.stage.channel(realm.member, realm_id=realm.id)
    elsewhere = realm.stage.channel(realm.owner, realm_id=realm.id)

    def newest_of_member() -> int:
        for _ in range(others_write):
            realm.owner.send(elsewhere.stream_id, "not there")
        return int(realm.member.post("register", event_types=[], fetch_event_types=["message"])["max_message_id"])

    old, newer = realm.owner.send(channel.stream_id, "a"), realm.owner.send(other.stream_id, "b")
    edit(realm.owner, old, stream_id=other.stream_id, **QUIET)
    assert newest_of_member() == newer
    newest = realm.owner.send(channel.stream_id, "c")
    realm.stage.sql(
        "delete from read_state where user_id = %s and conversation_id = %s", realm.member.id, channel.stream_id
    )
    assert newest_of_member() == newer
    edit(realm.owner, newest, stream_id=other.stream_id, **QUIET)
    assert newest_of_member() == newest
