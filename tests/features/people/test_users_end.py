"""Deactivation takes effect at once and everywhere: keys, sessions, and event queues in every process."""

import time
from concurrent.futures import wait
from functools import partial

import httpx
import pytest

from tertulia.people.users.actions import create_api_key
from tests.harness.stage import Stage, Web, at_once, later
from tests.harness.talk import Queue, Speaker, check_error, check_success


def log_in_again(stage: Stage, speaker: Speaker) -> None:
    """With a new key: the old ones ended."""
    key = stage.write(lambda tx: create_api_key(tx, speaker.id))
    speaker.http.auth = httpx.BasicAuth(speaker.email, key)


@pytest.mark.timed
def test_queues_in_every_process_end_at_once_and_keys_stop(stage: Stage, passing_web: Web) -> None:
    owner = stage.speaker(stage.server.owner)
    user = stage.user()
    here, there = stage.speaker(user), stage.speaker(user, url=passing_web.url)
    queues = [Queue(here, event_types=["message"]), Queue(there, event_types=["message"])]
    waiting = [queue.later() for queue in queues]
    assert not wait(waiting, 0.5).done
    check_success(owner.request("DELETE", f"users/{user.user_id}"))
    ended = time.monotonic()
    for speaker in (here, there):
        check_error(speaker.request("GET", "users/me"), "UNAUTHORIZED", 401)
    for queue, poll in zip(queues, waiting, strict=True):
        check_error(poll.result(10), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)
        check_error(queue.request(dont_block=True), "UNAUTHORIZED", 401)
    assert time.monotonic() - ended < 5
    check_success(owner.request("POST", f"users/{user.user_id}/reactivate"))
    for speaker in (here, there):
        log_in_again(stage, speaker)
    for queue in queues:
        for speaker in (here, there):
            check_error(queue.request(speaker, dont_block=True), "BAD_EVENT_QUEUE_ID", queue_id=queue.id)


def test_other_peoples_queues_live_on(stage: Stage) -> None:
    owner, user, other = stage.speaker(stage.server.owner), stage.speaker(), stage.speaker()
    with Queue(other, event_types=["message"]) as queue:
        check_success(owner.request("DELETE", f"users/{user.id}"))
        assert queue.so_far() == []


def test_browser_sessions_are_deleted(stage: Stage) -> None:
    owner, user, other = stage.speaker(stage.server.owner), stage.speaker(), stage.speaker()
    insert = """
    insert into browser_session (digest, user_id, csrf_token, expires)
    values (sha256(%s::text::bytea), %s, '', now() + interval '1 day')
    """
    for speaker in (user, other):
        stage.sql(insert, str(speaker.id), speaker.id)
    check_success(owner.request("DELETE", f"users/{user.id}"))
    left = stage.sql("select user_id from browser_session where user_id = any(%s)", [user.id, other.id])
    assert left == [(other.id,)]


@pytest.mark.timed
def test_a_queue_registered_while_its_user_goes_never_lives(stage: Stage) -> None:
    owner = stage.speaker(stage.server.owner)
    for _ in range(10):
        user = stage.speaker()
        replies = at_once(
            [
                partial(user.request, "POST", "register", event_types=["message"], fetch_event_types=[]),
                partial(owner.request, "DELETE", f"users/{user.id}"),
            ]
        )
        assert replies[1].status_code == 200
        assert replies[0].status_code in (200, 401, 503)
        check_success(owner.request("POST", f"users/{user.id}/reactivate"))
        log_in_again(stage, user)
        if replies[0].status_code == 200:
            state = replies[0].json()
            deadline = time.monotonic() + 5
            fields = {"queue_id": state["queue_id"], "last_event_id": state["last_event_id"], "dont_block": True}
            while (reply := user.request("GET", "events", **fields)).status_code != 400:
                assert time.monotonic() < deadline
            check_error(reply, "BAD_EVENT_QUEUE_ID", queue_id=state["queue_id"])


def test_the_number_of_subscribers_is_right_however_joining_and_going_meet(stage: Stage) -> None:
    owner = stage.speaker(stage.server.owner)
    for _ in range(10):
        user, channel = stage.speaker(), stage.channel()
        joining = later(stage.add, channel, user)
        check_success(owner.request("DELETE", f"users/{user.id}"))
        joining.result(30)
        counted = "select subscriber_count from channel where id = %s"
        actual = """
        select count(*) from subscription join account on account.id = user_id
        where channel_id = %s and subscription.is_active and account.is_active
        """
        assert stage.sql(counted, channel.stream_id) == stage.sql(actual, channel.stream_id)
        check_success(owner.request("POST", f"users/{user.id}/reactivate"))
        assert stage.sql(counted, channel.stream_id) == stage.sql(actual, channel.stream_id)
