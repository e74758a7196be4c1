"""What histories of messages cost: their reader waits for them, and nobody else does."""

import random
import time

import pytest

from tests.contract.changes import edit, history, one
from tests.features.people.test_logins import log_in, person
from tests.harness.realm import Realm
from tests.harness.stage import Stage, later
from tests.harness.talk import Speaker, check_success

EDITS = 150


def words(seed: int) -> str:
    """A text that has nothing in common with another: the dearest to compare."""
    chance = random.Random(seed)
    return " ".join(f"w{chance.randrange(10**6)}" for _ in range(390))


def edited(speaker: Speaker, to: int, times: int) -> int:
    sent = speaker.send(to, "topic", words(0))
    for number in range(1, times + 1):
        edit(speaker, sent, content=words(number))
    return sent


@pytest.mark.timed
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_nobody_waits_to_log_in_because_others_read_histories(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(*realm.all, realm_id=realm.id)
    sent = edited(realm.member, channel.stream_id, EDITS)
    somebody, nobody = person(stage), stage.nobody()

    def seconds_to_log_in() -> float:
        started = time.perf_counter()
        check_success(log_in(nobody, somebody))
        return time.perf_counter() - started

    alone = max(seconds_to_log_in() for _ in range(5))
    readers = [realm.as_user(realm.member.user) for _ in range(6)]
    reading = [later(history, reader, sent) for reader in readers]
    during = seconds_to_log_in()
    while not all(done.done() for done in reading):
        during = max(during, seconds_to_log_in())
    found = [done.result(120) for done in reading]
    assert all(versions == found[0] for versions in found)
    # Where nobody else is at work a login takes a few hundredths of a second.
    assert during < max(6 * alone, 1.0), "the slowest of them, against the slowest alone"


@pytest.mark.timed
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_nobody_waits_for_a_history_because_others_read_long_ones(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(*realm.all, realm_id=realm.id)
    long = [edited(realm.member, channel.stream_id, 90) for _ in range(4)]
    short = edited(realm.owner, channel.stream_id, 3)
    readers = [realm.as_user(realm.member.user) for _ in long]
    reading = [later(history, reader, sent) for reader, sent in zip(readers, long, strict=True)]
    time.sleep(0.2)
    started = time.perf_counter()
    assert len(history(realm.owner, short)) == 4
    took = time.perf_counter() - started
    assert not all(done.done() for done in reading), "they were too quick to be in the way"
    for done in reading:
        done.result(120)
    # A difference of these takes two hundredths of a second.
    assert took < 1


def test_a_history_of_long_texts_has_the_newest_and_is_no_large_answer(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(*realm.all, realm_id=realm.id)
    texts = [f"{number} " + "long " * 1990 for number in range(30)]
    sent = realm.member.send(channel.stream_id, "topic", texts[0])
    for text in texts[1:]:
        edit(realm.member, sent, content=text)
    answer = realm.guest.request("GET", f"messages/{sent}/history")
    versions = check_success(answer)["message_history"]
    assert len(answer.content) < 1_000_000
    assert 2 < len(versions) < 30
    told = [version["content"].split()[0] for version in versions]
    assert told == [str(number) for number in range(30 - len(versions), 30)]
    assert versions[0]["prev_content"].split()[0] == str(29 - len(versions)), (
        "the first one is not told as what was sent"
    )


def test_a_difference_is_made_once(realm: Realm, stage: Stage) -> None:
    channel = stage.channel(*realm.all, realm_id=realm.id)
    sent = realm.member.send(channel.stream_id, "topic", "one")
    edit(realm.member, sent, content="two")
    edit(realm.member, sent, content="three")
    first = history(realm.guest, sent)
    marked = [version.get("content_html_diff") for version in first]
    assert marked[0] is None
    assert "two" in str(marked[1])
    assert "three" in str(marked[2])
    # What is stored is what is told: nobody compares the two texts again.
    stage.sql(
        "update message_revision set html_diff = '<p>stored</p>' where html_diff is not null and message_id = %s", sent
    )
    told = [version.get("content_html_diff") for version in history(realm.guest, sent)]
    assert told == [None, "<p>stored</p>", marked[2]]
    # The difference to what the message is now is made anew, because pictures in it may change yet; it ends with the next edit.
    edit(realm.member, sent, content="four")
    told = [version.get("content_html_diff") for version in history(realm.guest, sent)]
    assert told[:3] == [None, "<p>stored</p>", marked[2]]
    [(stored,)] = stage.sql(
        "select count(*) from message_revision where html_diff is not null and message_id = %s", sent
    )
    assert stored == 2
    assert one(realm.guest, sent)["content"] == "<p>four</p>"
