"""What a send writes, and the group commit behind it: stuck conversations, refused rows, bad rows, order."""

import base64
import secrets
import time
from functools import partial
from typing import Any

import psycopg2.errors
import pytest

from tertulia.kernel.auth import Role
from tests.harness.server import Channel
from tests.harness.stage import Stage, Web, at_once, later
from tests.harness.talk import Json, Speaker, check_error, check_success, eventually, message_ids, unique

TABLES = ("message", "conversation", "topic", "read_state", "channel", "subscription", "message_mark", "sent_request")
HOLD = "select from conversation where id = %s for no key update"


def written(stage: Stage, message_id: int) -> dict[str, int]:
    """How many rows of each table the transaction of that message has made or changed."""
    [(xid,)] = stage.sql("select xmin::text from message where id = %s", message_id)
    counts = {table: stage.sql(f"select count(*) from {table} where xmin::text = %s", xid)[0][0] for table in TABLES}
    return {table: count for table, count in counts.items() if count}


def fields(channel: Channel, content: str = "Hello", topic: str = "topic") -> Json:
    return {"type": "channel", "to": channel.stream_id, "topic": topic, "content": content}


# Rows


def test_a_channel_message_writes_the_same_few_rows_however_many_listen(stage: Stage) -> None:
    sender = stage.speaker()
    few, many = stage.channel(sender), stage.channel(sender)
    crowd = [user for (user,) in stage.sql("select id from account where realm_id = %s", stage.realm_id)]
    assert len(crowd) > 5
    with stage.session() as execute:
        execute(
            "insert into subscription (user_id, channel_id, color) select unnest(%s), %s, '#aabbcc' on conflict do nothing",
            crowd,
            many.stream_id,
        )
    for channel in (few, many):
        sent = sender.send(channel.stream_id, "topic", read_by_sender=True)
        assert written(stage, sent) == {"message": 1, "conversation": 1, "topic": 1, "read_state": 1}


def test_a_sender_who_has_not_read_it_changes_no_read_state(stage: Stage) -> None:
    sender = stage.speaker()
    channel = stage.channel(sender)
    sent = sender.send(channel.stream_id, "topic", read_by_sender=False)
    assert written(stage, sent) == {"message": 1, "conversation": 1, "topic": 1}


def test_a_direct_message_has_no_topic_and_its_first_one_opens_the_conversation_for_all(stage: Stage) -> None:
    one, two, three = (stage.speaker() for _ in range(3))
    sent = one.send([two.id, three.id], read_by_sender=True)
    [(conversation, seq, topic)] = stage.sql("select conversation_id, seq, topic_id from message where id = %s", sent)
    assert (seq, topic) == (1, None)
    [(participants,)] = stage.sql("select participants from conversation where id = %s", conversation)
    assert participants == sorted([one.id, two.id, three.id])
    states = stage.sql(
        "select user_id, read::text, history::text from read_state where conversation_id = %s", conversation
    )
    assert sorted(states) == [
        (user, "{[1,2)}" if user == one.id else "{}", "{[1,)}") for user in sorted([one.id, two.id, three.id])
    ]


def test_two_people_who_write_first_at_the_same_moment_share_one_conversation(stage: Stage, second: Web) -> None:
    for _ in range(5):
        one, two = stage.speaker(), stage.user()
        other = stage.speaker(two, url=second.url)
        ids = at_once([partial(one.send, [two.user_id]), partial(other.send, [one.id])])
        assert len({one.message(sent)["recipient_id"] for sent in ids}) == 1


def test_a_topic_is_one_whatever_its_case_and_knows_its_newest_message(stage: Stage) -> None:
    sender = stage.speaker()
    channel = stage.channel(sender)
    for topic in ("Straße", "STRAßE", "straße"):
        sender.send(channel.stream_id, topic)
    assert stage.sql("select name, last_seq from topic where conversation_id = %s", channel.stream_id) == [
        ("Straße", 3)
    ]


def test_a_read_state_of_very_many_ranges_is_not_written_anew_at_each_send(stage: Stage) -> None:
    """Of 300,000 ranges that takes seconds, and everybody who sends at that moment waits for it."""
    sender = stage.speaker()
    channel = stage.channel(sender)
    assert "read_state" in written(stage, sender.send(channel.stream_id, "topic", read_by_sender=True))
    gaps = "select range_agg(int8range(2 * n, 2 * n + 1)) from generate_series(1, %s) as n"
    for ranges, is_written in ((10_000, False), (100, True)):
        with stage.session() as execute:
            change = f"update read_state set read = ({gaps}) where user_id = %s and conversation_id = %s"
            execute(change, ranges, sender.id, channel.stream_id)
        sent = sender.send(channel.stream_id, "topic", read_by_sender=True)
        assert ("read_state" in written(stage, sent)) is is_written


def test_words_that_nobody_has_used_yet_are_sorted_in_few_at_a_time(stage: Stage) -> None:
    """Whoever sends while they are sorted in waits for it, in every organization: of 4 MB, for seconds."""
    sender = stage.speaker()
    channel = stage.channel(sender)
    for _ in range(20):
        sender.send(channel.stream_id, "topic", " ".join(f"q{secrets.token_hex(4)}" for _ in range(900)))
    [(pages,)] = stage.sql("select gin_clean_pending_list('message_search')")
    assert pages < 50, "of 8 kB each: at most 256 kB, and what one more message has"


def test_words_of_edits_do_not_wait_for_the_next_sender_to_sort_them_in(stage: Stage) -> None:
    sender = stage.speaker()
    channel = stage.channel(sender)
    for message_id in [sender.send(channel.stream_id, "topic") for _ in range(20)]:
        words = " ".join(f"q{secrets.token_hex(4)}" for _ in range(900))
        check_success(sender.request("PATCH", f"messages/{message_id}", content=words))
    [(pages,)] = stage.sql("select gin_clean_pending_list('message_search')")
    assert pages < 50


# Stuck, refused and bad


@pytest.mark.timed
def test_a_conversation_held_by_another_transaction_stalls_only_itself_and_keeps_its_order(stage: Stage) -> None:
    sender = stage.speaker()
    stuck, free = stage.channel(sender), stage.channel(sender)
    with stage.session() as execute:
        execute(HOLD, stuck.stream_id)
        waiting = []
        for number in range(6):
            waiting.append(later(sender.send, stuck.stream_id, "topic", f"number {number}"))
            time.sleep(0.03)
        started = time.monotonic()
        for _ in range(10):
            sender.send(free.stream_id, "topic")
        assert time.monotonic() - started < 3
        assert not any(sent.done() for sent in waiting)
    ids = [sent.result(10) for sent in waiting]
    assert ids == sorted(ids)
    assert [seq for (seq,) in stage.sql("select seq from message where id = any(%s) order by id", ids)] == [
        *range(1, 7)
    ]
    sender.send(stuck.stream_id, "topic")


@pytest.mark.timed
def test_an_account_held_by_another_transaction_stalls_only_who_needs_it(stage: Stage) -> None:
    stuck, sender = stage.speaker(), stage.speaker()
    first, second = stage.channel(stuck), stage.channel(sender)
    sender.send(second.stream_id, "topic")
    with stage.session() as execute:
        execute("select from account where id = %s for no key update", stuck.id)
        # Whoever starts a topic follows it: that takes their account.
        waiting = []
        for number in range(3):
            waiting.append(later(stuck.send, first.stream_id, "topic", f"number {number}"))
            time.sleep(0.03)
        started = time.monotonic()
        for _ in range(10):
            sender.send(second.stream_id, "topic")
        assert time.monotonic() - started < 3
        assert not any(sent.done() for sent in waiting)
    ids = [sent.result(10) for sent in waiting]
    assert ids == sorted(ids)


def refused_while_waiting(stage: Stage, sender: Speaker, channel: Channel, statement: str, *values: object) -> Json:
    """Send while the channel is held, change the sender's rights meanwhile; the answer."""
    with stage.session() as execute:
        execute(HOLD, channel.stream_id)
        sending = later(sender.request, "POST", "messages", **fields(channel))
        time.sleep(0.3)
        assert not sending.done()
        execute(statement, *values)
    reply = sending.result(10)
    assert reply.status_code == 400
    assert stage.sql("select count(*) from message where conversation_id = %s", channel.stream_id) == [(0,)]
    body: Json = reply.json()
    return body


@pytest.mark.timed
def test_a_message_that_waits_in_a_circle_is_stored_after_the_other_one(stage: Stage) -> None:
    # Who began to wait first looks for a circle first, a second later. On a busy machine that may be us.
    assert any(is_ended_in_a_circle(stage) for _ in range(5))


def is_ended_in_a_circle(stage: Stage) -> bool:
    """Whether it was the sender's transaction that PostgreSQL ended. The message is stored in any case."""
    sender = stage.speaker()
    channel = stage.channel(sender)
    # The first try gives up after 0.2 s; the next one, which waits as long as it takes, is meant.
    waiting = """
    select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%%from account%%for no key update'
        and query_start < now() - interval '0.3 s'
    """
    with stage.session() as execute:
        execute("set local deadlock_timeout = '5s'")
        execute("select from account where id = %s for no key update", sender.id)
        sending = later(sender.send, channel.stream_id, "topic")
        eventually(lambda: stage.sql(waiting))
        try:
            execute(HOLD, channel.stream_id)
            is_ended = True
        except psycopg2.errors.DeadlockDetected:
            execute("rollback")
            is_ended = False
    assert sending.result(20)
    return is_ended


@pytest.mark.timed
def test_who_is_removed_between_the_look_and_the_write_is_refused(stage: Stage) -> None:
    sender = stage.speaker()
    channel = stage.channel(sender, invite_only=True)
    statement = "update subscription set is_active = false where channel_id = %s and user_id = %s"
    body = refused_while_waiting(stage, sender, channel, statement, channel.stream_id, sender.id)
    assert (body["code"], body["stream_id"]) == ("STREAM_DOES_NOT_EXIST", channel.stream_id)


@pytest.mark.timed
def test_a_channel_archived_between_the_look_and_the_write_is_refused(stage: Stage) -> None:
    sender = stage.speaker()
    channel = stage.channel(sender)
    statement = "update channel set is_archived = true where id = %s"
    assert refused_while_waiting(stage, sender, channel, statement, channel.stream_id)["code"] == "BAD_REQUEST"


@pytest.mark.timed
def test_who_is_deactivated_between_the_look_and_the_write_is_refused(stage: Stage) -> None:
    sender = stage.speaker()
    channel = stage.channel(sender)
    statement = "update account set is_active = false where id = %s"
    # Nothing there is theirs any more.
    assert refused_while_waiting(stage, sender, channel, statement, sender.id)["code"] == "STREAM_DOES_NOT_EXIST"


@pytest.mark.timed
def test_a_refused_row_answers_its_own_sender_only(stage: Stage) -> None:
    people = [stage.speaker() for _ in range(4)]
    channel = stage.channel(*people, invite_only=True)
    with stage.session() as execute:
        execute(HOLD, channel.stream_id)
        sending = [later(person.request, "POST", "messages", **fields(channel)) for person in people]
        time.sleep(0.4)
        where = "update subscription set is_active = false where channel_id = %s and user_id = any(%s)"
        execute(where, channel.stream_id, [people[1].id, people[3].id])
    replies = [sent.result(10) for sent in sending]
    assert [reply.status_code for reply in replies] == [200, 400, 200, 400]
    assert stage.sql("select count(*) from message where conversation_id = %s", channel.stream_id) == [(2,)]


@pytest.fixture
def poison(stage: Stage) -> Any:
    """Content that PostgreSQL refuses, though every rule of ours allows it."""
    word = unique("poison")
    name = word.replace(" ", "_")
    stage.sql(f"alter table message add constraint {name} check (content <> '{word}') not valid")
    yield word
    stage.sql(f"alter table message drop constraint {name}")


@pytest.mark.timed
def test_a_bad_row_answers_its_own_sender_only(stage: Stage, poison: str) -> None:
    people = [stage.speaker() for _ in range(5)]
    channel = stage.channel(*people)
    with stage.session() as execute:
        execute(HOLD, channel.stream_id)
        sending = []
        for number, person in enumerate(people):
            content = poison if number == 2 else f"number {number}"
            sending.append(later(person.request, "POST", "messages", **fields(channel, content)))
            time.sleep(0.05)
    replies = [sent.result(10) for sent in sending]
    check_error(replies.pop(2), "INTERNAL_ERROR", 500)
    ids = [check_success(reply)["id"] for reply in replies]
    assert ids == sorted(ids)
    assert stage.sql("select seq from message where conversation_id = %s order by id", channel.stream_id) == [
        (1,), (2,), (3,), (4,),
    ]  # fmt: skip


# Order


def test_numbers_ids_and_events_have_one_order_in_a_conversation_whoever_sends(stage: Stage, second: Web) -> None:
    users = [stage.user() for _ in range(6)]
    here = [stage.speaker(user) for user in users[:3]]
    there = [stage.speaker(user, url=second.url) for user in users[3:]]
    channel = stage.channel(*here, *there)
    with here[0].register() as one, there[0].register() as two:

        def talk(speaker: Speaker) -> list[int]:
            return [speaker.send(channel.stream_id, f"topic {turn % 3}") for turn in range(20)]

        sent = at_once([partial(talk, speaker) for speaker in (*here, *there)])
        last = here[0].send(channel.stream_id, "the end")
        heard = [message_ids(queue.until_message(last)) for queue in (one, two)]
    stored = stage.sql("select id, seq from message where conversation_id = %s order by seq", channel.stream_id)
    ids = [id for id, _ in stored]
    assert [seq for _, seq in stored] == [*range(1, 122)]
    assert ids == sorted(ids)
    assert heard == [ids, ids]
    assert all(own == sorted(own) for own in sent)


# Topics that a channel requires or forbids


@pytest.mark.parametrize("topic", ["", "(no topic)", "general chat", "  "])
def test_where_a_topic_is_required_the_empty_one_is_refused(stage: Stage, topic: str) -> None:
    sender = stage.speaker()
    channel = stage.channel(sender)
    stage.sql("update channel set topics_policy = 'disable_empty_topic' where id = %s", channel.stream_id)
    check_error(sender.request("POST", "messages", **fields(channel, topic=topic)))
    sender.send(channel.stream_id, "a topic")


def test_where_only_the_empty_topic_is_allowed_others_are_refused(stage: Stage) -> None:
    sender = stage.speaker()
    channel = stage.channel(sender)
    stage.sql("update channel set topics_policy = 'empty_topic_only' where id = %s", channel.stream_id)
    check_error(sender.request("POST", "messages", **fields(channel)))
    sender.send(channel.stream_id, "")


# Who may send


def test_a_guest_sends_where_they_are_subscribed(stage: Stage) -> None:
    guest = stage.speaker(Role.GUEST)
    channel = stage.channel(guest)
    assert guest.message(guest.send(channel.stream_id, "topic"))["sender_id"] == guest.id


def test_an_archived_channel_takes_no_messages(stage: Stage) -> None:
    sender = stage.speaker()
    channel = stage.channel(sender)
    stage.sql("update channel set is_archived = true where id = %s", channel.stream_id)
    check_error(sender.request("POST", "messages", **fields(channel)))


def test_a_deactivated_person_gets_no_messages(stage: Stage) -> None:
    sender, gone = stage.speaker(), stage.speaker()
    stage.sql("update account set is_active = false where id = %s", gone.id)
    for to in ([gone.id], [gone.email], [gone.id, sender.id]):
        check_error(sender.request("POST", "messages", type="direct", to=to, content="x"))


# Words that take long to find


@pytest.mark.parametrize("signs", ["~/", "/.", "1-a-", "_1-E", "a-b.c-d."])
def test_a_text_whose_words_take_long_to_find_is_neither_sent_nor_searched_for(stage: Stage, signs: str) -> None:
    """Everybody who sends at that moment would wait for it, in every organization."""
    sender = stage.speaker()
    channel = stage.channel(sender)
    dear = (signs * 10_000)[:9_990]
    refused = sender.request("POST", "messages", **fields(channel, f"a {dear}"))
    assert "too many signs" in check_error(refused)
    sent = sender.send(channel.stream_id, "topic", "short")
    assert "too many signs" in check_error(sender.request("PATCH", f"messages/{sent}", content=dear))
    narrow = [{"operator": "search", "operand": f"a{dear}"}]
    asked = sender.request("GET", "messages", anchor="newest", num_before=9, num_after=0, narrow=narrow)
    check_error(asked, "BAD_NARROW", desc="too many signs with no blank between them in a search")


@pytest.mark.parametrize(
    "text",
    [
        "/".join(f"folder{number}" for number in range(900)),
        "-".join(f"{number:08x}" for number in range(1000)),
        ",".join(f"{number}.25" for number in range(1000)),
        base64.b64encode(bytes(range(256)) * 28).decode(),
        "-" * 9000,
    ],
)
def test_long_paths_tables_and_keys_are_sent(stage: Stage, text: str) -> None:
    sender = stage.speaker()
    assert sender.send(stage.channel(sender).stream_id, "topic", text)


# Sizes


@pytest.mark.parametrize("name", ["queue_id", "local_id"])
def test_the_words_of_a_local_echo_are_short_enough_for_the_log(stage: Stage, name: str) -> None:
    sender = stage.speaker()
    echo = {"queue_id": "q", "local_id": "l"}
    sender.send([sender.id], **{**echo, name: "x" * 1000})
    long = {**echo, name: "x" * 1001}
    assert name in check_error(sender.request("POST", "messages", type="direct", to=[sender.id], content="x", **long))
