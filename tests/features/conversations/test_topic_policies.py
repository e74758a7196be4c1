"""Policies of topics: what is stored, what happens at the same time, and what a message does to several users."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import psycopg2
import psycopg2.errors
import pytest

from tertulia.conversations.read_state.marks import TopicPolicy
from tertulia.conversations.topics.actions import get_topic, set_policies
from tertulia.conversations.topics.model import Decided
from tertulia.kernel.db import Transaction
from tertulia.organization.realms.settings import RealmSettings
from tests.contract.changes import edit, events, listen
from tests.contract.policies import decide, muted, policies
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.stage import Stage, Web, at_once
from tests.harness.talk import Speaker, check_error, check_success, eventually, unique
from tests.harness.waits import waits_of


def test_a_topic_made_for_a_policy_has_no_messages_and_stays_one_row(stage: Stage) -> None:
    people = [stage.speaker() for _ in range(3)]
    channel = stage.channel(*people)
    for speaker in people:
        decide(speaker, channel.stream_id, "new", 1)
    found = stage.sql("select name, last_seq from topic where conversation_id = %s", channel.stream_id)
    assert found == [("new", 0)]


def test_a_topic_used_for_the_first_time_by_many_at_once_is_one(stage: Stage, second: Web) -> None:
    people = [stage.speaker(url=second.url if turn % 2 else None) for turn in range(8)]
    for speaker in people:
        speaker.request("PATCH", "settings", automatically_follow_topics_policy=4)  # whoever starts it would follow it
    channel = stage.channel(*people)
    works = [partial(decide, speaker, channel.stream_id, "new", 1 + turn % 3) for turn, speaker in enumerate(people)]
    works += [partial(_say, speaker, channel) for speaker in people]
    at_once(works)
    assert stage.sql("select count(*) from topic where conversation_id = %s", channel.stream_id) == [(1,)]
    assert [policies(speaker)[channel.stream_id, "new"] for speaker in people] == [1 + turn % 3 for turn in range(8)]


def _say(speaker: Speaker, channel: Channel) -> dict[str, object]:
    return {"id": speaker.send(channel.stream_id, "new")}


def test_the_last_list_that_older_clients_hear_is_the_list(stage: Stage, second: Web) -> None:
    user = stage.user()
    here, there = stage.speaker(user), stage.speaker(user, url=second.url)
    channel = stage.channel(here)
    with here.register(event_types=["message", "muted_topics"]) as queue:
        at_once([partial(decide, (here, there)[n % 2], channel.stream_id, f"topic {n}", 1) for n in range(8)])
        lists = [event["muted_topics"] for event in queue.so_far()]
    assert sorted(map(len, lists)) == list(range(1, 9))
    assert [topic for _, topic, _ in lists[-1]] == [f"topic {n}" for n in range(8)]


def test_an_archived_channel_is_left_out_and_only_clearing_works_there(stage: Stage) -> None:
    speaker = stage.speaker()
    channel = stage.channel(speaker)
    decide(speaker, channel.stream_id, "topic", 3)
    stage.sql("update channel set is_archived = true where id = %s", channel.stream_id)
    assert policies(speaker) == {}
    fields = {"stream_id": channel.stream_id, "topic": "topic", "visibility_policy": 1}
    reply = speaker.request("POST", "user_topics", **fields)
    check_error(reply, "STREAM_DOES_NOT_EXIST", stream_id=channel.stream_id)
    decide(speaker, channel.stream_id, "topic", 0)
    assert stage.sql("select count(*) from topic_policy where user_id = %s", speaker.id) == [(0,)]


def test_several_users_come_to_their_policies_together(stage: Stage) -> None:
    people = [stage.speaker() for _ in range(4)]
    channel = stage.channel(*people)
    follower, muter, unmuter, nothing = people
    decide(follower, channel.stream_id, "topic", 3)
    decide(muter, channel.stream_id, "topic", 1)
    decide(unmuter, channel.stream_id, "topic", 2)

    async def follow(tx: Transaction) -> list[Decided]:
        topic = await get_topic(tx, channel.stream_id, "Topic")
        wishes = {speaker.id: TopicPolicy.FOLLOWED for speaker in people}
        return await set_policies(tx, stage.realm_id, RealmSettings(), topic, wishes, keep=(TopicPolicy.MUTED,))

    queues = [speaker.register(event_types=None) for speaker in people]
    changed = stage.write(follow)
    assert [(one.user_id, one.old, one.new) for one in changed] == [(unmuter.id, 2, 3), (nothing.id, 0, 3)]
    assert [policies(speaker)[channel.stream_id, "topic"] for speaker in people] == [3, 1, 3, 3]
    told = [
        [event["type"] for event in queue.so_far() if event["type"] in ("user_topic", "muted_topics")]
        for queue in queues
    ]
    assert told == [[], [], ["user_topic"], ["user_topic"]]
    assert stage.write(follow) == []


def test_older_clients_hear_of_it_when_a_message_unmutes_a_topic(stage: Stage) -> None:
    speaker = stage.speaker()
    channel = stage.channel(speaker)
    decide(speaker, channel.stream_id, "topic", 1)

    async def unmute(tx: Transaction) -> list[Decided]:
        topic = await get_topic(tx, channel.stream_id, "topic")
        return await set_policies(tx, stage.realm_id, RealmSettings(), topic, {speaker.id: TopicPolicy.UNMUTED})

    with speaker.register(event_types=["muted_topics"]) as queue:
        stage.write(unmute)
        [event] = queue.poll()
    assert event["muted_topics"] == []


def test_the_new_name_of_a_topic_is_not_for_those_who_left_its_private_channel(stage: Stage) -> None:
    member, former = stage.speaker(), stage.speaker()
    channel = stage.channel(member, former, invite_only=True)
    sent = member.send(channel.stream_id, "topic")
    for speaker in (member, former):
        decide(speaker, channel.stream_id, "topic", 1)
    decide(former, channel.stream_id, "free", 3)
    stage.remove(channel, former)
    assert policies(former) == {}
    with listen(former) as outside, listen(member) as inside:
        edit(member, sent, topic="secret", propagate_mode="change_all", send_notification_to_new_thread=False)
        told = [
            [(event["topic_name"], event["visibility_policy"]) for event in events(queue, "user_topic")]
            for queue in (outside, inside)
        ]
    assert told == [[("topic", 0)], [("topic", 0), ("secret", 1)]]
    assert (policies(former), muted(former)) == ({}, [])
    assert policies(member) == {(channel.stream_id, "secret"): 1}
    stage.add(channel, former)
    assert policies(former) == {(channel.stream_id, "free"): 3}


def test_who_reads_a_private_channel_by_a_group_keeps_policies_there(stage: Stage) -> None:
    member, reader = stage.speaker(), stage.speaker()
    channel = stage.channel(member, invite_only=True)
    stage.sql(
        """
        update channel set history_public_to_subscribers = true, can_subscribe_group = (
            select id from user_group where user_group.realm_id = channel.realm_id and name = 'role:members'
        ) where id = %s
        """,
        channel.stream_id,
    )
    sent = member.send(channel.stream_id, "topic")
    decide(reader, channel.stream_id, "topic", 1)
    edit(member, sent, topic="new", propagate_mode="change_all", send_notification_to_new_thread=False)
    assert policies(reader) == {(channel.stream_id, "new"): 1}
    assert [topic for _, topic in muted(reader)] == ["new"]


def test_whoever_makes_a_topic_waits_for_a_rename_before_it_holds_accounts(realm: Realm) -> None:
    """Or the two wait for each other: a new topic holds its channel, and then its author; a rename names people as well."""
    owner, member, stage = realm.owner, realm.member, realm.stage
    channel = stage.channel(owner, member, realm_id=realm.id)
    members = {"direct_members": [member.id], "direct_subgroups": []}
    fields = {"new_name": unique("renamed"), "can_administer_channel_group": {"new": members}}
    with ThreadPoolExecutor(1) as thread:
        with stage.session() as hold:
            hold("select from account where id = %s for update", member.id)
            renaming = thread.submit(owner.request, "PATCH", f"streams/{channel.stream_id}", **fields)
            waiting = "select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%%account%%'"
            eventually(lambda: stage.sql(waiting) != [])
            with pytest.raises(psycopg2.errors.LockNotAvailable), stage.session() as other:
                other("select from channel where id = %s for key share nowait", channel.stream_id)
        check_success(renaming.result())


WHOLE = {"propagate_mode": "change_all", "send_notification_to_new_thread": False}


def mute_many(realm: Realm, channel: Channel, people: int, topics: int) -> None:
    """So many people have muted the topic "loud", which is there, and so many others."""
    realm.stage.sql(
        """
        with person as (
            insert into account (realm_id, email, email_key, full_name)
            select %s, address, address, 'Crowd' from (
                select 'm' || number || '.' || %s || '@example.com' as address from generate_series(1, %s) as number
            ) as made returning id
        ), made as (
            insert into topic (conversation_id, name, name_key)
            select %s, 't' || number, 't' || number from generate_series(1, %s) as number returning id
        ), muted as (
            select id from made union all select id from topic where conversation_id = %s and name_key = 'loud'
        )
        insert into topic_policy (user_id, topic_id, policy) select person.id, muted.id, 1 from person, muted
        """,
        *(realm.id, channel.stream_id, people, channel.stream_id, topics, channel.stream_id),
    )
    realm.stage.sql("analyze topic_policy")


@pytest.mark.timed
def test_nobody_waits_because_a_topic_that_thousands_mute_gets_another_name(realm: Realm) -> None:
    channel = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id)
    sent = realm.owner.send(channel.stream_id, "loud")
    mute_many(realm, channel, people=3000, topics=32)
    decide(realm.member, channel.stream_id, "loud", 1)
    longest = []
    with realm.member.register(event_types=["muted_topics"]) as older:
        for name in ("low", "lower", "lowest"):
            with waits_of(realm.stage.nobody(host=realm.host)) as waits:
                edit(realm.owner, sent, topic=name, **WHOLE)
            longest.append(max(waits))
            [event] = older.poll()
            assert [topic for _, topic, _ in event["muted_topics"]] == [name]
    assert min(longest) < 0.13, "they waited 0.22 s, and longer by each topic that somebody mutes"


def test_older_clients_register_again_when_their_lists_are_too_much_to_tell(realm: Realm) -> None:
    channel = realm.stage.channel(realm.owner, realm.member, realm_id=realm.id)
    sent = realm.owner.send(channel.stream_id, "loud")
    mute_many(realm, channel, people=20, topics=5000)
    decide(realm.member, channel.stream_id, "loud", 1)
    with (
        realm.member.register(event_types=["muted_topics"]) as older,
        realm.member.register(event_types=["user_topic"]) as newer,
        realm.owner.register(event_types=["muted_topics", "message"]) as others,
    ):
        edit(realm.owner, sent, topic="low", **WHOLE)
        assert {event["topic_name"] for event in newer.poll()} == {"loud", "low"}
        older.check_ends()
        assert others.so_far() == [], "who mutes nothing goes on"
    state = realm.member.post("register", event_types=[], fetch_event_types=["muted_topics"])
    assert [topic for _, topic, _ in state["muted_topics"]] == ["low"]
