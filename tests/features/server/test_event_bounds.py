"""What one request tells has a bound: the relay and every web process read each event after it is over."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tertulia.events.log.record import Audience, record
from tertulia.kernel.audit import request_under_way
from tertulia.kernel.call import Call
from tertulia.kernel.db import Database
from tests.harness.realm import Realm
from tests.harness.server import Channel, Engines, Server
from tests.harness.stage import Stage, Web
from tests.harness.talk import Queue, Speaker, check_error

SOURCES = Path(__file__).parents[3] / "src" / "tertulia"
LIMIT = 30
MANY = 20
"""Channels: leaving one is told in two events."""
MAY_TELL_MANY = {
    "kernel/db.py": "defines it",
    "people/users/activation.py": "accounts come and go, whatever they are in",
    "people/users/handover.py": "a bot leaves what its new owner may not read",
    "conversations/topics/actions.py": "what a message or a move does to those who muted or follow the topic",
    "messaging/editing/moving/policies.py": "a topic gets another name, for all who muted or follow it",
    "messaging/erasure/scrubbing.py": "whoever knew somebody who is erased is told, by the command and the worker only",
    "messaging/erasure/messages.py": "as in messaging/editing/telling.py, by the command and the worker only",
    "messaging/editing/telling.py": "readers of protected history know different parts of it",
    "organization/groups/visibility.py": "settings of channels name somebody who comes or goes",
}
"""Where it is not in the caller's hands how many events there are. It costs them all the same (kernel/admission.py)."""


@pytest.fixture(scope="module")
def web(server: Server, shared_folder: Path) -> Iterator[Web]:
    """A web process where a request tells little."""
    web = Web(server, shared_folder, bounds=f"events={LIMIT}")
    try:
        yield web.wait()
    finally:
        web.stop()


@pytest.fixture
def realm(stage: Stage) -> Realm:
    return Realm(stage)


def channels(realm: Realm, *inside: Speaker) -> list[Channel]:
    return [realm.stage.channel(*inside, realm_id=realm.id) for _ in range(MANY)]


def leave(speaker: Speaker, some: list[Channel]) -> httpx.Response:
    return speaker.request("DELETE", "users/me/subscriptions", subscriptions=[one.name for one in some])


def test_who_would_tell_too_much_at_once_is_told_to_do_it_in_parts(realm: Realm, web: Web) -> None:
    member, some = realm.as_user(realm.member.user, url=web.url), channels(realm, realm.member)
    with Queue(member, event_types=["subscription", "message"]) as queue:
        told = check_error(leave(member, some), "TOO_MANY_EVENTS")
        assert told == "This changes too much at once (30 events at most): please do it in several requests."
        assert queue.so_far() == []
        for half in (some[: MANY // 2], some[MANY // 2 :]):
            assert leave(member, half).status_code == 200
        assert len([event for event in queue.so_far() if event.get("op") == "remove"]) == MANY


def test_administrators_have_no_such_bound(realm: Realm, web: Web) -> None:
    owner, some = realm.as_user(realm.owner.user, url=web.url), channels(realm, realm.owner)
    assert leave(owner, some).status_code == 200


def test_nobody_is_refused_for_what_others_have_to_hear(realm: Realm, web: Web) -> None:
    member, bot = realm.as_user(realm.member.user, url=web.url), realm.bot(realm.member)
    channels(realm, bot)
    channels(realm, bot)
    assert member.request("DELETE", f"bots/{bot.id}").status_code == 200


async def test_what_a_transaction_tells_is_counted_for_its_request(engines: Engines) -> None:
    call = Call({"headers": [], "client": ("203.0.113.7", 1)}, no_more)
    call.while_frozen = True  # there is no organization that could be
    async with await Database.connect(engines.postgres.url_of("postgres"), shards=4, size=1) as database:
        with request_under_way(call, None):
            for _ in range(2):
                async with database.transaction() as tx:
                    for _ in range(3):
                        tx.emit(1, record(Audience(), "test", {}))
    assert call.events == 6


@pytest.fixture(scope="module")
def limiting(server: Server, shared_folder: Path) -> Iterator[Web]:
    """A web process that limits who calls."""
    web = Web(server, shared_folder, rate_limits="true")
    try:
        yield web.wait()
    finally:
        web.stop()


def test_whoever_has_large_events_written_again_and_again_waits_between_them(realm: Realm, limiting: Web) -> None:
    """Older clients are told all of somebody's muted topics when one is added. At the rate of calls that was 217 MB in a minute,
    which the log keeps for eight days."""
    channel = realm.stage.channel(realm.member, realm.moderator, realm_id=realm.id)
    realm.stage.sql(
        """
        with topic as (
            insert into topic (conversation_id, name, name_key)
            select %s, name, name from (
                select repeat(chr(20000 + number), 55) || number as name from generate_series(1, 4990) as number
            ) as named returning id
        )
        insert into topic_policy (user_id, topic_id, policy) select %s, id, 1 from topic
        """,
        *(channel.stream_id, realm.member.id),
    )

    def toggled(speaker: Speaker) -> list[int]:
        said = [{"stream_id": channel.stream_id, "topic": "x", "visibility_policy": turn % 2} for turn in range(1, 71)]
        web = realm.as_user(speaker.user, url=limiting.url)
        return [web.request("POST", "user_topics", **fields).status_code for fields in said]

    many = toggled(realm.member)
    assert many.count(200) < 60
    assert set(many) == {200, 429}
    assert set(toggled(realm.moderator)) == {200}, "whoever mutes few topics goes on"


async def no_more() -> dict[str, object]:
    return {"type": "http.disconnect"}


def test_every_place_that_may_tell_many_has_its_reason() -> None:
    pattern = re.compile(r"\ballow_many_events\(")
    found = {
        str(file.relative_to(SOURCES)) for file in SOURCES.rglob("*.py") if pattern.search(file.read_text("utf-8"))
    }
    assert found == MAY_TELL_MANY.keys()
