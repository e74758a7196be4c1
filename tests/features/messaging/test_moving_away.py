"""Who is told what when messages leave a channel: of places that somebody does not see nothing is said."""

import pytest

from tests.contract.changes import TYPES, edit, events, listen
from tests.harness.realm import Realm
from tests.harness.server import GUEST
from tests.harness.talk import Json

QUIET = {"send_notification_to_new_thread": False}
CAPABLE = {"notification_settings_null": True, "bulk_message_deletion": True}


def test_where_messages_of_a_public_channel_went_is_not_for_everybody(realm: Realm) -> None:
    source = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id)
    secret = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id, invite_only=True)
    public = realm.stage.channel(realm.owner, realm_id=realm.id)
    sent = [realm.owner.send(source.stream_id, "topic") for _ in range(2)]
    options: Json = {"event_types": TYPES, "client_capabilities": CAPABLE}
    with (
        realm.moderator.register(all_public_streams=True, **options) as everywhere,
        listen(realm.member) as inside,
    ):
        edit(realm.owner, sent[0], stream_id=secret.stream_id, topic="plan", **QUIET)
        edit(realm.owner, sent[1], stream_id=public.stream_id, topic="fete", **QUIET)
        heard = [event for event in everywhere.so_far() if event["type"] in ("update_message", "delete_message")]
        assert [event["message_ids"] for event in heard] == [[sent[0]], [sent[1]]]
        assert (heard[0]["type"], heard[0]["topic"]) == ("delete_message", "topic")
        assert "new_stream_id" not in heard[0]
        assert (heard[1]["new_stream_id"], heard[1]["subject"]) == (public.stream_id, "fete")
        assert [event["subject"] for event in events(inside)] == ["plan", "fete"]


def test_listeners_to_public_channels_follow_a_move_that_a_guest_does_not(realm: Realm) -> None:
    source = realm.stage.channel(realm.owner, realm.guest, realm_id=realm.id)
    public = realm.stage.channel(realm.owner, realm_id=realm.id)
    sent = realm.owner.send(source.stream_id, "topic")
    options: Json = {"event_types": TYPES, "client_capabilities": CAPABLE}
    with realm.moderator.register(all_public_streams=True, **options) as everywhere, listen(realm.guest) as guest:
        edit(realm.owner, sent, stream_id=public.stream_id, **QUIET)
        assert [event["new_stream_id"] for event in events(everywhere)] == [public.stream_id]
        assert events(everywhere, "delete_message") == []
        told = [event["type"] for event in guest.so_far() if event["type"] in ("update_message", "delete_message")]
    assert told == ["delete_message"]


def test_a_guest_of_the_target_is_not_told_what_a_public_source_is_called(realm: Realm) -> None:
    """Another guest loses the message, so that those who keep it are named one by one."""
    loser, stranger = realm.guest, realm.speaker(GUEST)
    source = realm.stage.channel(realm.owner, loser, realm_id=realm.id)
    public = realm.stage.channel(realm.owner, stranger, realm_id=realm.id)
    sent = realm.owner.send(source.stream_id, "topic")
    with listen(stranger) as queue, listen(realm.owner) as own:
        edit(realm.owner, sent, stream_id=public.stream_id, **QUIET)
        [event] = events(queue)
        assert (event["message_ids"], event["stream_name"]) == ([sent], "")
        assert [one["stream_name"] for one in events(own)] == [source.name]


@pytest.mark.parametrize("goes_public", [True, False])
def test_whoever_left_a_private_channel_is_not_told_what_it_is_called_now(realm: Realm, *, goes_public: bool) -> None:
    source = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id, invite_only=True)
    target = realm.stage.channel(realm.owner, realm_id=realm.id, invite_only=not goes_public)
    sent = realm.owner.send(source.stream_id, "topic")
    realm.member.post("messages/flags", messages=[sent], op="add", flag="starred")
    realm.member.request("DELETE", "users/me/subscriptions", subscriptions=[source.name])
    edit(realm.owner, sent, topic="secret", propagate_mode="change_all", **QUIET)
    with listen(realm.member) as queue:
        edit(realm.owner, sent, stream_id=target.stream_id, **QUIET)
        [event] = [event for event in queue.so_far() if event["type"] in ("update_message", "delete_message")]
    if goes_public:
        assert (event["message_ids"], event["stream_name"]) == ([sent], "")
    else:
        assert (event["message_ids"], event["topic"]) == ([sent], "")


def test_the_notice_at_the_target_does_not_name_a_private_channel(realm: Realm) -> None:
    source = realm.stage.channel(realm.owner, realm_id=realm.id, invite_only=True)
    target = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id)
    sent = realm.owner.send(source.stream_id, "secret")
    edit(realm.owner, sent, stream_id=target.stream_id, topic="open")
    narrow = [{"operator": "channel", "operand": target.stream_id}]
    notice = realm.member.window("newest", before=1, narrow=narrow, apply_markdown=False)["messages"][-1]["content"]
    assert "moved here from a private channel" in notice
    assert source.name not in notice
    assert "secret" not in notice


def test_older_clients_register_again_when_very_many_messages_are_gone(realm: Realm) -> None:
    source = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id)
    secret = realm.stage.channel(realm.owner, realm_id=realm.id, invite_only=True)
    sent = realm.owner.send(source.stream_id, "topic")
    realm.stage.sql(
        """
        with counted as (update conversation set last_seq = last_seq + 100 where id = %s returning last_seq - 100 as seq)
        insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered)
        select realm_id, conversation_id, counted.seq + number, topic_id, sender_id, client, content, rendered
        from message, counted, generate_series(1, 100) as number where conversation_id = %s
        """,
        source.stream_id,
        source.stream_id,
    )
    with (
        listen(realm.member) as newer,
        listen(realm.member, bulk_message_deletion=False) as older,
        listen(realm.owner, bulk_message_deletion=False) as keeping,
        listen(realm.moderator, bulk_message_deletion=False) as elsewhere,
    ):
        edit(realm.owner, sent, stream_id=secret.stream_id, propagate_mode="change_all", **QUIET)
        [event] = events(newer, "delete_message")
        assert len(event["message_ids"]) == 101
        assert len(events(keeping)) == 1
        assert events(elsewhere, "delete_message") == []
        assert older.request(dont_block=True).json()["code"] == "BAD_EVENT_QUEUE_ID"
