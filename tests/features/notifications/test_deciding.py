"""Deciding whom a message concerns: who is asked about at all, in which steps, and at what cost."""

import asyncio
import time

import pytest

from tertulia.kernel.db import Transaction
from tertulia.messaging.editing.model import FormerMentions
from tertulia.notifications.concerns.model import Facts
from tertulia.notifications.concerns.rules import decide, decide_anew
from tertulia.notifications.deciding.queries import OF_ONE, Asked, end_step, insert_due, insert_edited, take_step
from tests.features.notifications.unreadable import unreadable_settings
from tests.harness.realm import Realm
from tests.harness.server import Channel, OwnServer
from tests.harness.stage import Stage
from tests.harness.talk import Speaker, check_success, eventually


class Undo(Exception):
    """Ends a transaction of which nothing is to stay."""


@pytest.fixture
def channel(realm: Realm, stage: Stage) -> Channel:
    return stage.channel(realm.member, realm.owner, realm.moderator, realm_id=realm.id)


async def one_step(tx: Transaction, messages: int, people: int) -> tuple[set[int], list[Asked]]:
    """Which messages it dealt with, and whom they may concern."""
    step = await take_step(tx, messages, people)
    return (await end_step(tx, step) if step.seen else set()), step.asked


def asked(realm: Realm, message_id: int, people: int = 1000) -> list[list[Facts]]:
    """What is known of those whom a message may concern, in steps of so many people. Nothing of it stays."""
    eventually(lambda: realm.stage.sql("select 1 from push_due where message_id = %s", message_id) == [])
    steps: list[list[Facts]] = []

    async def walk(tx: Transaction) -> None:
        # The worker does not see the row: it is never committed.
        await tx.execute("delete from push_due")
        await insert_due(tx, [message_id])
        while (step := await one_step(tx, 10, people))[0]:
            steps.append([one.facts for one in step[1]])
        raise Undo

    with pytest.raises(Undo):
        realm.stage.write(walk)
    return steps


def reasons(realm: Realm, message_id: int) -> dict[int, str | None]:
    """Why people are told by a push, of all who are asked about."""
    return {facts.user_id: decide(facts).push for step in asked(realm, message_id) for facts in step}


def follow(person: Speaker, channel: Channel, topic: str, policy: int = 3) -> None:
    person.post("user_topics", stream_id=channel.stream_id, topic=topic, visibility_policy=policy)


def test_somebody_about_whom_nothing_can_be_decided_keeps_nobody_else_from_hearing(realm: Realm) -> None:
    people = [realm.moderator, realm.member]
    with unreadable_settings(realm, realm.moderator):
        sent = realm.owner.send([person.id for person in people], content="Tea?")
        eventually(lambda: realm.stage.sql("select 1 from push_due where message_id = %s", sent) == [])
    told = realm.stage.sql("select user_id from missed_message where message_id = %s", sent)
    assert told == [(realm.member.id,)]


def test_only_those_whom_a_message_may_concern_are_asked_about(realm: Realm, channel: Channel) -> None:
    me, other = realm.member, realm.owner
    plain = other.send(channel.stream_id, "tea", "who is there?")
    assert reasons(realm, plain) == {}
    named = other.send(channel.stream_id, "cake", f"@**|{me.id}**")
    assert reasons(realm, named) == {me.id: "mentioned"}
    follow(me, channel, "tea")
    assert reasons(realm, plain) == {me.id: "followed_topic"}
    everybody = other.send(channel.stream_id, "pie", "@**all**")
    assert set(reasons(realm, everybody)) == {me.id, realm.moderator.id}
    direct = other.send([me.id], content="you")
    assert reasons(realm, direct) == {me.id: "direct_message"}


def test_whoever_wants_to_hear_everything_is_found_by_either_setting(realm: Realm, channel: Channel) -> None:
    me, other = realm.member, realm.moderator
    sent = realm.owner.send(channel.stream_id, "tea", "hello")
    change = {"stream_id": channel.stream_id, "property": "push_notifications", "value": True}
    me.post("users/me/subscriptions/properties", subscription_data=[change])
    check_success(other.request("PATCH", "settings", enable_stream_push_notifications=True))
    assert reasons(realm, sent) == {me.id: "stream_push", other.id: "stream_push"}
    # Following a topic of a muted channel has a setting of its own, and does not stand in for the channel's.
    follow(me, channel, "tea")
    check_success(me.request("PATCH", "settings", enable_followed_topic_push_notifications=False))
    assert reasons(realm, sent)[me.id] == "stream_push"
    muted = {"stream_id": channel.stream_id, "property": "is_muted", "value": True}
    me.post("users/me/subscriptions/properties", subscription_data=[muted])
    assert reasons(realm, sent)[me.id] is None


def test_an_alert_word_alone_concerns_nobody_who_is_away(realm: Realm, channel: Channel) -> None:
    realm.member.post("users/me/alert_words", alert_words=["lighthouse"])
    sent = realm.owner.send(channel.stream_id, "tea", "the lighthouse is on")
    marks = realm.stage.sql("select user_id from message_mark where message_id = %s", sent)
    assert (marks, reasons(realm, sent)) == ([(realm.member.id,)], {})


def test_a_message_to_many_is_decided_in_steps_and_each_is_asked_about_once(realm: Realm, stage: Stage) -> None:
    people = [realm.speaker() for _ in range(5)]
    channel = stage.channel(realm.owner, *people, realm_id=realm.id)
    sent = realm.owner.send(channel.stream_id, "tea", f"@**all** and @**|{people[3].id}**")
    steps = asked(realm, sent, people=2)
    assert [facts.user_id for step in steps for facts in step] == sorted(person.id for person in people)
    assert all(len(step) <= 2 for step in steps)
    assert [len(asked(realm, sent, people=size)) for size in (6, 7)] == [2, 1]  # the sender receives it too


def test_of_a_group_only_its_members_are_asked_about_and_of_a_role_everybody(realm: Realm, channel: Channel) -> None:
    crew = realm.owner.post("user_groups/create", name="crew", description="", members=[realm.member.id])["group_id"]
    sent = realm.owner.send(channel.stream_id, "tea", "@*crew* ahoy")
    assert reasons(realm, sent) == {realm.member.id: "mentioned"}
    realm.owner.post("user_groups/create", name="fleet", description="", members=[], subgroups=[crew])
    sent = realm.owner.send(channel.stream_id, "tea", "@*fleet* ahoy")
    assert reasons(realm, sent) == {realm.member.id: "mentioned"}
    [(moderators,)] = realm.stage.sql(
        "select id from user_group where realm_id = %s and name = 'role:moderators'", realm.id
    )
    realm.owner.post("user_groups/create", name="wise", description="", members=[], subgroups=[moderators])
    sent = realm.owner.send(channel.stream_id, "tea", "@*wise* ahoy")
    assert reasons(realm, sent) == {realm.member.id: None, realm.moderator.id: "mentioned"}


def test_a_message_to_many_lets_those_that_came_later_begin(realm: Realm, channel: Channel) -> None:
    many = realm.owner.send(channel.stream_id, "tea", "@**all**")
    later = realm.owner.send([realm.member.id], content="you")
    eventually(lambda: realm.stage.sql("select 1 from push_due where message_id = any(%s)", [many, later]) == [])
    order: list[int] = []

    async def walk(tx: Transaction) -> None:
        await tx.execute("delete from push_due")
        await insert_due(tx, [many, later])
        while (step := await one_step(tx, 1, 2))[0]:
            order.extend(one.facts.message_id for one in step[1])
        raise Undo

    with pytest.raises(Undo):
        realm.stage.write(walk)
    assert order.index(later) < max(index for index, one in enumerate(order) if one == many)


def test_whoever_mentions_many_very_often_lets_others_messages_come_first(realm: Realm, channel: Channel) -> None:
    crowd = [realm.owner.send(channel.stream_id, "tea", "@**all**") for _ in range(12)]
    direct = realm.moderator.send([realm.member.id], content="you")
    everybody = realm.moderator.send(channel.stream_id, "tea", "@**all**")
    sent = [*crowd, direct, everybody]
    eventually(lambda: realm.stage.sql("select 1 from push_due where message_id = any(%s)", sent) == [])
    steps: list[list[int]] = []

    async def walk(tx: Transaction) -> None:
        await tx.execute("delete from push_due")
        await insert_due(tx, sent)
        while (step := await one_step(tx, 10, 2))[0]:
            steps.append([one.facts.message_id for one in step[1]])
        raise Undo

    with pytest.raises(Undo):
        realm.stage.write(walk)
    assert direct in steps[0]
    assert len(set(steps[0]) & set(crowd)) <= OF_ONE
    last = {message: max(place for place, step in enumerate(steps) if message in step) for message in sent}
    assert last[everybody] < min(last[message] for message in crowd[OF_ONE:])


def test_an_edit_of_a_message_that_is_half_decided_tells_each_person_once(realm: Realm, stage: Stage) -> None:
    people = sorted((realm.speaker() for _ in range(4)), key=lambda one: one.id)
    channel = stage.channel(realm.owner, *people, realm_id=realm.id)
    first, last = people[0], people[-1]
    sent = realm.owner.send(channel.stream_id, "tea", f"@**|{first.id}** and @**|{people[2].id}**")
    eventually(lambda: stage.sql("select 1 from push_due where message_id = %s", sent) == [])
    check_success(realm.owner.request("PATCH", f"messages/{sent}", content=f"@**|{first.id}** @**all**"))
    eventually(lambda: stage.sql("select 1 from push_due where message_id = %s", sent) == [])
    told: list[tuple[int, str | None]] = []

    async def walk(tx: Transaction) -> None:
        await tx.execute("delete from push_due")
        await insert_due(tx, [sent])
        # Two of the five that it is for (the sender is one) were asked about when it mentioned two others.
        await one_step(tx, 10, 3)
        await insert_edited(tx, FormerMentions(sent, [first.id, people[2].id], [], 0))
        while (step := await one_step(tx, 10, 3))[0]:
            told.extend((one.facts.user_id, decide_anew(one.facts, one.before).push) for one in step[1])
        raise Undo

    with pytest.raises(Undo):
        stage.write(walk)
    anew = "stream_wildcard_mentioned"
    assert told == [(first.id, None), (people[1].id, anew), (people[2].id, anew), (last.id, anew)]


def test_whoever_deletes_or_edits_a_message_does_not_wait_while_it_is_found_out_whom_it_concerns(
    server: OwnServer, realm: Realm, channel: Channel
) -> None:
    with server.paused("worker"):
        gone, edited, left = (realm.owner.send(channel.stream_id, "tea", "@**all**") for _ in range(3))

        async def walk(tx: Transaction) -> None:
            step = await take_step(tx, 1000, 100)
            assert {gone, edited, left} <= step.seen.keys()
            deleting = realm.owner.later("DELETE", f"messages/{gone}")
            check_success(await asyncio.to_thread(deleting.result, 10))
            named = f"@**all** @**|{realm.member.id}** @**|{realm.moderator.id}**"
            editing = realm.owner.later("PATCH", f"messages/{edited}", content=named)
            check_success(await asyncio.to_thread(editing.result, 10))
            held = await end_step(tx, step)
            assert held & {gone, edited, left} == {left}
            raise Undo

        with pytest.raises(Undo):
            realm.stage.write(walk)


def test_an_edit_asks_only_about_those_whom_it_mentions_besides(realm: Realm, channel: Channel) -> None:
    follow(realm.moderator, channel, "tea")
    sent = realm.owner.send(channel.stream_id, "tea", "hello")
    eventually(lambda: realm.stage.sql("select 1 from push_due where message_id = %s", sent) == [])
    check_success(realm.owner.request("PATCH", f"messages/{sent}", content=f"hello @**|{realm.member.id}**"))
    found: list[int] = []

    async def walk(tx: Transaction) -> None:
        await tx.execute("delete from push_due")
        await insert_edited(tx, FormerMentions(sent, [], [], 0))
        found.extend(one.facts.user_id for one in (await one_step(tx, 10, 100))[1])
        raise Undo

    with pytest.raises(Undo):
        realm.stage.write(walk)
    assert found == [realm.member.id]


@pytest.mark.timed
def test_an_edit_while_the_worker_looks_at_what_waits_is_decided_by_its_new_text(
    realm: Realm, channel: Channel
) -> None:
    """Very much waits, so that the worker looks at it nearly all of the time."""
    me, sample = realm.member, realm.moderator.send(channel.stream_id, "others", "hello")
    waiting = 30_000
    realm.stage.sql(
        """
        with place as (
            update conversation set last_seq = last_seq + %s where id = %s returning last_seq - %s as seq
        ), made as (
            insert into message (realm_id, conversation_id, seq, topic_id, sender_id, client, content, rendered)
            select realm_id, conversation_id, place.seq + number, topic_id, sender_id, client, content, rendered
            from generate_series(1, %s) as number, message, place where message.id = %s returning id
        )
        insert into push_due (message_id) select id from made
        """,
        *(waiting, channel.stream_id, waiting, waiting, sample),
    )
    try:
        sent = []
        for turn in range(8):
            sent.append(realm.owner.send(channel.stream_id, "tea", "tea"))
            time.sleep(turn * 0.01)
            check_success(realm.owner.request("PATCH", f"messages/{sent[-1]}", content=f"@**|{me.id}** tea"))
        eventually(lambda: realm.stage.sql("select 1 from push_due where message_id = any(%s)", sent) == [])
    finally:
        realm.stage.sql("delete from push_due where message_id > %s and message_id < %s returning 1", sample, sent[0])
    sql = "select message_id from missed_message where user_id = %s order by message_id"
    assert [number for (number,) in realm.stage.sql(sql, me.id)] == sent
