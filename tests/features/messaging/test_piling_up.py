"""What people can pile onto a message: each reader gets it, so it has bounds, and they hold when several come at once."""

import itertools
import json
import random

import httpx
import pytest

from tertulia.messaging.reading.load import MOST_PILED
from tertulia.messaging.sending.places import NEW_COMPANY
from tests.contract.changes import edit, history, one
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.stage import Stage, at_once
from tests.harness.talk import Speaker, check_error


@pytest.fixture
def channel(realm: Realm) -> Channel:
    """A public channel with everybody in it."""
    return realm.stage.channel(*realm.all, realm_id=realm.id)


def tell(speaker: Speaker, poll: int, **said: object) -> httpx.Response:
    return speaker.request("POST", "submessage", message_id=poll, msg_type="widget", content=json.dumps(said))


def option(speaker: Speaker, poll: int, number: int, text: str) -> httpx.Response:
    return tell(speaker, poll, type="new_option", idx=number, option=text)


def new_poll(speaker: Speaker, channel: Channel) -> int:
    return speaker.send(channel.stream_id, "topic", "/poll Tea?\nyes\nno")


def test_what_a_widget_is_told_stays_small_for_its_readers(realm: Realm, channel: Channel) -> None:
    poll = new_poll(realm.member, channel)
    answers = [option(realm.guest, poll, number, "x" * 9000) for number in range(1, 31)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [400] * 25
    assert "You have told" in check_error(answers[5])
    assert option(realm.moderator, poll, 1, "short").status_code == 200, "one person cannot use it up for the others"
    assert sum(len(said["content"]) for said in one(realm.owner, poll)["submessages"]) < 50_000


def test_the_history_in_a_message_object_stays_small(realm: Realm, channel: Channel) -> None:
    chance = random.Random(4)
    texts = [" ".join(f"w{chance.randrange(10**6)}" for _ in range(300)) for _ in range(30)]
    sent = realm.member.send(channel.stream_id, "topic", texts[0])
    for text in texts[1:]:
        edit(realm.member, sent, content=text)
    message = one(realm.guest, sent)
    told = [entry["prev_content"] for entry in message["edit_history"]]
    assert told == texts[-2:-12:-1][: len(told)], "the newest, newest first"
    assert 5 <= len(told) <= 10
    assert len(json.dumps(message["edit_history"])) < 100_000


def test_the_times_of_the_last_edit_and_move_are_told_however_long_ago(realm: Realm, channel: Channel) -> None:
    sent = realm.member.send(channel.stream_id, "topic", "0")
    edit(realm.member, sent, topic="elsewhere")
    moved_at = one(realm.guest, sent)["last_moved_timestamp"]
    for number in range(1, 25):
        edit(realm.member, sent, content=str(number))
    message = one(realm.guest, sent)
    assert message["last_moved_timestamp"] == moved_at
    assert len(message["edit_history"]) == 10
    assert message["last_edit_timestamp"] == message["edit_history"][0]["timestamp"]


def test_one_person_puts_so_many_reactions_to_a_message(realm: Realm, channel: Channel) -> None:
    sent = realm.member.send(channel.stream_id, "topic", "hello")
    names = [
        "smile",
        "tada",
        "+1",
        "heart",
        "tea",
        "coffee",
        "dog",
        "cat",
        "rocket",
        "fire",
        "eyes",
        "100",
        "bug",
        "key",
    ]
    names += ["apple", "pizza", "car", "bus", "ship", "sun", "moon", "star", "rose", "bell", "book"]
    at = f"messages/{sent}/reactions"
    answers = at_once([lambda name=name: realm.guest.request("POST", at, emoji_name=name) for name in names])  # type: ignore[misc]
    refused = [answer for answer in answers if answer.status_code != 200]
    assert len(refused) == 5, [answer.text for answer in refused]
    assert "reactions" in check_error(refused[0])
    assert len(one(realm.owner, sent)["reactions"]) == 20
    assert realm.owner.request("POST", at, emoji_name="smile").status_code == 200


def test_a_topic_remembers_its_newest_hundred_names_and_a_message_its_newest_twenty_moves(
    realm: Realm, channel: Channel
) -> None:
    first, second = (realm.member.send(channel.stream_id, "0", "hello") for _ in range(2))
    edit(realm.member, first, content="a text of its own stays")
    realm.stage.sql(
        """insert into message_revision (topic_id, last_seq, user_id, changed_at, prev_topic, topic)
        select topic_id, seq, %s, now() - interval '1 hour', (n - 1)::text, n::text
        from message, generate_series(1, 120) as n where id = %s order by n""",
        realm.member.id,
        second,
    )
    edit(realm.owner, first, topic="renamed", propagate_mode="change_all")
    sql = "select count(*) from message_revision where topic_id = (select topic_id from message where id = %s)"
    assert realm.stage.sql(sql, first) == [(100,)]
    assert one(realm.member, second)["edit_history"][0]["topic"] == "renamed"
    # Whoever leaves the topic takes its newest names along, and forgets older ones with the next move.
    for topic in ("elsewhere", "further"):
        edit(realm.owner, first, topic=topic, propagate_mode="change_one")
    own = "select count(*) from message_revision where message_id = %s and prev_content is null"
    assert realm.stage.sql(own, first) == [(20,)]
    assert history(realm.member, first)[-1]["topic"] == "further"
    assert "hello" in [version.get("prev_content") for version in history(realm.member, first)]


def test_nobody_begins_one_large_conversation_after_the_other(stage: Stage) -> None:
    """Everybody in one has it in their lists for good. What goes on in those that there are is another matter."""
    writer, others = stage.speaker(), [stage.user().user_id for _ in range(101)]
    companies = [list(company) for company in itertools.combinations(others, len(others) - 2)]
    begun = 0
    while (reply := writer.request("POST", "messages", type="direct", to=companies[begun], content="x")).is_success:
        begun += 1
    assert NEW_COMPANY < begun * (len(companies[0]) + 1) < NEW_COMPANY * 1.1
    check_error(reply, "RATE_LIMIT_HIT", 429, **{"retry-after": reply.json()["retry-after"]})
    writer.send(companies[0])
    writer.send([others[0]])
    stage.speaker().send(companies[begun])


def test_of_what_is_piled_onto_messages_a_reader_gets_so_much_and_then_the_rest(realm: Realm, channel: Channel) -> None:
    sent = [realm.member.send(channel.stream_id, "topic", f"message {number}") for number in range(12)]
    piled = """
    insert into reaction (message_id, user_id, emoji_name, emoji_code, reaction_type)
    select message_id, %s, 'x', to_hex(number), 'unicode_emoji'
    from unnest(%s::bigint[]) as message_id, generate_series(1, %s) as number
    """
    realm.stage.sql(piled, realm.member.id, sent, MOST_PILED // 10)
    newest = realm.guest.window(before=12)
    assert ([one["id"] for one in newest["messages"]], newest["found_oldest"]) == (sent[2:], False)
    assert {len(one["reactions"]) for one in newest["messages"]} == {MOST_PILED // 10}
    rest = realm.guest.window(str(sent[2]), before=12, include_anchor=False)
    assert [one["id"] for one in rest["messages"]] == sent[:2]
    around = realm.guest.window(str(sent[6]), before=6, after=6)
    assert [one["id"] for one in around["messages"]] == sent
