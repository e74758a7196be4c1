"""What is looked up alone is asked by another statement than what is looked up together: both must find the same."""

import time

import pytest

from tertulia.conversations.channels.model import Channel
from tertulia.conversations.channels.queries import ChannelKey, channels_by_key
from tertulia.conversations.topics.queries import list_topics
from tertulia.kernel.db import Transaction
from tertulia.kernel.ids import digest_of_key
from tertulia.kernel.text import name_key_of
from tertulia.people.users.authentication.queries import KeyOwner, owners_of_keys
from tests.harness.realm import Realm
from tests.harness.stage import Stage

NOWHERE = 2**40


@pytest.mark.parametrize("invite_only", [False, True])
def test_a_channel_is_to_each_the_same_alone_and_among_others(stage: Stage, invite_only: bool) -> None:
    realm = Realm(stage)
    made = stage.channel(realm.member, invite_only=invite_only, realm_id=realm.id)
    elsewhere = stage.channel()
    named = [(made.stream_id, None), (None, name_key_of(made.name)), (elsewhere.stream_id, None), (NOWHERE, None)]
    named.append((None, "no such name"))
    keys = [ChannelKey(realm.id, who.id, *each) for who in realm.all for each in named]

    async def look(tx: Transaction) -> tuple[dict[ChannelKey, Channel], dict[ChannelKey, Channel]]:
        alone: dict[ChannelKey, Channel] = {}
        for key in keys:
            alone |= await channels_by_key(tx, [key])
        return alone, await channels_by_key(tx, keys)

    alone, together = stage.write(look)
    assert alone == together
    assert set(alone) == {
        key for key in keys if key.channel_id == made.stream_id or key.name_key == name_key_of(made.name)
    }
    members, guests = (
        alone[ChannelKey(realm.id, realm.member.id, *named[0])],
        alone[ChannelKey(realm.id, realm.guest.id, *named[0])],
    )
    assert (members.may_read, guests.may_read) == (True, False)


def test_the_owner_of_a_key_is_the_same_alone_and_among_others(stage: Stage) -> None:
    realm = Realm(stage)
    digests = [digest_of_key(who.user.api_key) for who in realm.all] + [b"nobody's"]

    async def look(tx: Transaction) -> tuple[dict[bytes, KeyOwner], dict[bytes, KeyOwner]]:
        alone: dict[bytes, KeyOwner] = {}
        for digest in digests:
            alone |= await owners_of_keys(tx, [digest])
        return alone, await owners_of_keys(tx, digests)

    alone, together = stage.write(look)
    assert alone == together
    assert [owner.caller.user_id for owner in alone.values()] == [who.id for who in realm.all]


def test_a_list_of_very_many_topics_keeps_nobody_waiting(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.member, realm_id=realm.id)
    sent = realm.member.send(channel.stream_id, "tea", "hello")
    sql = """
    insert into topic (conversation_id, name, name_key, last_seq)
    select %s, 'a "b" ' || number, 'a "b" ' || number, 1 from generate_series(1, 200000) as number
    """
    stage.sql(sql, channel.stream_id)

    async def seconds_of(tx: Transaction) -> float:
        began = time.thread_time()
        await list_topics(tx, channel.stream_id, "no topic")
        return time.thread_time() - began

    assert stage.write(seconds_of) < 0.15, "so long the event loop is nobody else's"
    listed = realm.member.get(f"users/me/{channel.stream_id}/topics")["topics"]
    assert (len(listed), {one["max_id"] for one in listed}) == (200_001, {sent})
    assert {"name": 'a "b" 200000', "max_id": sent} in listed
    stage.sql("delete from topic where conversation_id = %s and name <> 'tea'", channel.stream_id)
