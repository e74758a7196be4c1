"""The notification bot: an account of every realm, and what it has to say is said exactly once."""

import asyncio
import time

import pytest

from tertulia.content.markup.writing import Mention, Quotation, Text
from tertulia.kernel.db import Database
from tertulia.kernel.settings import Settings
from tertulia.messaging.sending.notices import BATCH, Notices
from tertulia.organization.notices import Notice, tell
from tertulia.organization.notices.bounds import TOLD
from tertulia.server.app import services_of
from tertulia.server.features import FEATURES
from tests.harness.realm import Realm
from tests.harness.stage import Stage
from tests.harness.talk import Json, Queue, Speaker, check_error


def bot_of(speaker: Speaker) -> Json:
    state = speaker.post("register", event_types=[], fetch_event_types=["realm_user"])
    [bot] = state["cross_realm_bots"]
    assert isinstance(bot, dict)
    return bot


def write_notices(stage: Stage, realm_id: int, *notices: Notice) -> None:
    """As a process that dies right after its commit: nobody follows up."""
    stage.write(lambda tx: tell(tx, realm_id, notices))


def deliver(stage: Stage, processes: int = 1, *, after_commit: bool = False) -> int:
    """Send what there is, in so many processes at once; how many were sent. Or what a request sends of it."""

    async def run() -> int:
        url = stage.server.postgres_url
        databases = [await Database.connect(url, shards=Settings().shards, size=2) for _ in range(processes)]
        try:
            all_notices = [services_of(FEATURES, {Settings: Settings(), Database: one})[Notices] for one in databases]
            works = [one.deliver() if after_commit else one.deliver_left(0.0) for one in all_notices]
            return sum(await asyncio.gather(*works))
        finally:
            for database in databases:
                await database.close()

    return asyncio.run(run())


def test_the_bot_is_in_no_list_of_users_but_in_cross_realm_bots(realm: Realm) -> None:
    bot = bot_of(realm.member)
    assert (bot["is_bot"], bot["is_system_bot"], bot["full_name"]) == (True, True, "Notification Bot")
    assert "is_active" not in bot
    everybody = {user["user_id"] for user in realm.member.get("users")["members"]}
    assert everybody == {one.id for one in realm.all}
    state = realm.member.post("register", event_types=[], fetch_event_types=["realm_user", "realm_user_groups"])
    assert {user["user_id"] for user in state["realm_users"]} == everybody
    assert all(bot["user_id"] not in group["members"] for group in state["realm_user_groups"])


def test_nobody_changes_or_becomes_the_bot(realm: Realm) -> None:
    bot = bot_of(realm.owner)["user_id"]
    check_error(realm.owner.request("PATCH", f"users/{bot}", full_name="Mine"))
    check_error(realm.owner.request("DELETE", f"bots/{bot}"))
    check_error(realm.owner.request("PATCH", f"bots/{bot}", full_name="Mine"))
    check_error(realm.owner.request("POST", f"bots/{bot}/api_key/regenerate"))


def test_a_notice_in_a_channel_is_a_message_of_the_bot(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.member, realm.owner, invite_only=True, realm_id=realm.id)
    queues = [Queue(one, event_types=["message"], fetch_event_types=[]) for one in (realm.member, realm.owner)]
    write_notices(
        stage, realm.id, Notice(("Look.",), channel_id=channel.stream_id, topic="news", read_by=realm.owner.id)
    )
    deliver(stage)
    flags = []
    for queue in queues:
        event = queue.until(lambda event: event["type"] == "message")[-1]
        message = event["message"]
        assert (message["sender_id"], message["subject"]) == (bot_of(realm.owner)["user_id"], "news")
        assert (message["client"], message["sender_full_name"]) == ("Internal", "Notification Bot")
        assert queue.speaker.message(message["id"])["flags"] == event["flags"]
        flags.append(event["flags"])
    assert flags == [[], ["read"]]


def test_a_notice_to_a_person_is_a_direct_message(realm: Realm, stage: Stage) -> None:
    notices = [Notice((f"For you, {number}",), user_id=realm.guest.id) for number in range(3)]
    with Queue(realm.guest, event_types=["message"], fetch_event_types=[]) as queue:
        write_notices(stage, realm.id, *notices)
        deliver(stage)
        events = queue.until(lambda event: event["type"] != "message" or "2" in event["message"]["content"])
    assert [event["message"]["content"] for event in events] == [notice.text[0] for notice in notices]
    people = {person["id"] for person in events[0]["message"]["display_recipient"]}
    assert people == {realm.guest.id, bot_of(realm.guest)["user_id"]}
    assert realm.guest.send([bot_of(realm.guest)["user_id"]], content="Thank you")


def test_whom_a_notice_names_may_have_another_name_when_it_is_sent(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.member, realm_id=realm.id)
    person = realm.moderator.id
    texts: list[Text] = [
        (Mention(person, "Old Name"), " made it."),
        (Mention(person, "Old Name"), " wrote:", Quotation(f"@**Chief|{person}**")),
    ]
    for text in texts:
        write_notices(stage, realm.id, Notice(text, channel_id=channel.stream_id, topic="t"))
    deliver(stage)
    shown, quoted = (one["content"] for one in realm.member.window("oldest", after=2)["messages"])
    assert f'<span class="user-mention silent" data-user-id="{person}">Old Name</span> made it.' in shown
    assert f'data-user-id="{person}">Chief' not in quoted  # what others wrote is not believed


def test_everybodys_first_notice_is_sent_before_anybodys_second(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.owner, realm_id=realm.id)
    there: Json = {"channel_id": channel.stream_id, "topic": "t", "read_by": realm.owner.id}
    write_notices(stage, realm.id, *(Notice((f"flood {number}",), **there) for number in range(3 * BATCH)))
    write_notices(stage, realm.id, Notice(("For you",), user_id=realm.member.id))
    assert deliver(stage, after_commit=True) <= 2 * BATCH
    assert [message["content"] for message in realm.member.window(before=10)["messages"]] == ["<p>For you</p>"]
    deliver(stage)


def test_whoever_has_very_much_said_has_nothing_more_said_of_what_they_do_to_others(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.owner, realm_id=realm.id)
    crew = realm.owner.post("user_groups/create", name="crew", description="", members=[])["group_id"]
    waiting = """
    insert into notice (realm_id, body, due) select %s, jsonb_build_object('read_by', %s::bigint), now() + interval '1 hour'
    from generate_series(1, %s)
    """
    stage.sql(waiting, realm.id, realm.owner.id, TOLD.limit)

    def subscribe(speaker: Speaker, person: Speaker) -> bool:
        asked = {"subscriptions": [{"name": channel.name}], "principals": [person.id]}
        return bool(speaker.post("users/me/subscriptions", **asked)["new_subscription_messages_sent"])

    assert not subscribe(realm.owner, realm.member)
    realm.owner.post(f"user_groups/{crew}/members", add=[realm.member.id])
    assert realm.member.window(before=10)["messages"] == []
    assert subscribe(realm.administrator, realm.moderator)
    assert len(realm.moderator.window(before=10)["messages"]) == 1
    stage.sql("delete from notice where realm_id = %s", realm.id)
    realm.owner.post(f"user_groups/{crew}/members", add=[realm.moderator.id])
    assert len(realm.moderator.window(before=10)["messages"]) == 2


def test_many_processes_send_each_notice_once(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.member, realm.guest, realm_id=realm.id)
    people = [one.id for one in realm.all]
    contents = [f"notice {number}" for number in range(250)]
    for number, content in enumerate(contents):
        there: Json = {"channel_id": channel.stream_id, "topic": "t"} if number % 2 else {"user_id": people[number % 5]}
        write_notices(stage, realm.id, Notice((content,), **there))
    deliver(stage, processes=4)
    sent = stage.sql("select content from message where realm_id = %s and content like 'notice %%'", realm.id)
    assert sorted(row[0] for row in sent) == sorted(contents)


def test_a_notice_for_nobody_is_dropped_and_holds_nobody_up(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.member, realm_id=realm.id)
    nowhere = (
        Notice(("?",), channel_id=2**50),
        Notice(("?",), user_id=2**50),
        Notice(("?",)),
        Notice((), user_id=realm.member.id),
    )
    write_notices(stage, realm.id, *nowhere, Notice(("Here.",), channel_id=channel.stream_id, topic="t"))
    deliver(stage)
    assert stage.sql("select count(*) from notice where realm_id = %s", realm.id) == [(0,)]
    narrow = [{"operator": "channel", "operand": channel.stream_id}]
    assert [found["content"] for found in realm.member.window(before=5, narrow=narrow)["messages"]] == ["<p>Here.</p>"]


def test_organizations_take_turns_and_so_do_those_who_are_told_what_nobody_did(realm: Realm, stage: Stage) -> None:
    elsewhere, flooded = Realm(stage), (realm.owner.id, realm.member.id)
    write_notices(stage, realm.id, *[Notice((f"{n}",), user_id=flooded[n % 2]) for n in range(3 * BATCH)])
    write_notices(stage, realm.id, Notice(("For you.",), user_id=realm.guest.id))
    write_notices(stage, elsewhere.id, Notice(("For you.",), user_id=elsewhere.guest.id))
    deliver(stage, after_commit=True)
    sql = "select count(*) from message where realm_id = any(%s) and content = 'For you.'"
    assert stage.sql(sql, [realm.id, elsewhere.id]) == [(2,)]


def test_a_request_sends_one_batch_and_leaves_the_rest_to_the_worker(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.member, realm_id=realm.id)
    deliver(stage)
    notices = [Notice((f"n{number}",), channel_id=channel.stream_id, topic="t") for number in range(BATCH + 20)]
    write_notices(stage, realm.id, *notices)
    assert deliver(stage, after_commit=True) == BATCH
    deliver(stage)
    assert stage.sql("select count(*) from message where conversation_id = %s", channel.stream_id) == [(BATCH + 20,)]


def test_a_request_does_not_wait_for_a_conversation_that_is_held(realm: Realm, stage: Stage) -> None:
    held, free = (stage.channel(realm.member, realm_id=realm.id) for _ in range(2))
    sent = "select count(*) from message where conversation_id = %s"
    with stage.session() as execute:
        execute("select from conversation where id = %s for no key update", held.stream_id)
        write_notices(stage, realm.id, *(Notice(("now",), channel_id=one.stream_id, topic="t") for one in (held, free)))
        deliver(stage, after_commit=True)
        assert [stage.sql(sent, one.stream_id) for one in (held, free)] == [[(0,)], [(1,)]]
    deliver(stage)
    assert [stage.sql(sent, one.stream_id) for one in (held, free)] == [[(1,)], [(1,)]]


def test_a_notice_that_cannot_be_sent_is_put_off_and_holds_nobody_up(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.member, realm_id=realm.id)
    left = "select body->'text'->>0, attempts, due > now() + interval '50 seconds' from notice where realm_id = %s"
    stage.sql("alter table message add constraint bad_notice check (content <> 'bad notice') not valid")
    try:
        words = ("one", "bad notice", "two")
        write_notices(stage, realm.id, *(Notice((word,), channel_id=channel.stream_id, topic="t") for word in words))
        assert deliver(stage) == 2
        assert stage.sql(left, realm.id) == [("bad notice", 1, True)]
        write_notices(stage, realm.id, Notice(("three",), channel_id=channel.stream_id, topic="t"))
        assert deliver(stage, after_commit=True) == 1
    finally:
        stage.sql("alter table message drop constraint bad_notice")
    stage.sql("update notice set due = now() where realm_id = %s", realm.id)
    deliver(stage)
    assert stage.sql(left, realm.id) == []


@pytest.mark.slow
@pytest.mark.timed
def test_the_worker_sends_what_a_process_left_that_died_after_its_commit(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(realm.member, realm_id=realm.id)
    with Queue(realm.member, event_types=["message"], fetch_event_types=[]) as queue:
        write_notices(stage, realm.id, Notice(("Left behind.",), channel_id=channel.stream_id, topic="t"))
        started = time.monotonic()
        assert queue.until(lambda event: event["type"] == "message")[-1]["message"]["subject"] == "t"
        assert time.monotonic() - started < 15
    assert stage.sql("select count(*) from message where content = 'Left behind.'") == [(1,)]
