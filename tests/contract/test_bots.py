"""Bots: what they count as, who touches them, and what becomes of their keys (protocol/people.md#bots)."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.harness.files import may_fetch, upload
from tests.harness.server import ADMINISTRATOR, GUEST, MEMBER, OWNER, Server, User
from tests.harness.talk import Json, Speaker, check_error, check_success, eventually, speaking, unique

Make = Callable[..., Speaker]


@pytest.fixture
def make(server: Server) -> Iterator[Make]:
    """Makes a bot of somebody's."""
    with ExitStack() as stack:

        def made(owner: Speaker, **fields: object) -> Speaker:
            name = unique("machine").replace(" ", "-")
            bot = owner.post("bots", full_name=name, short_name=name, **fields)
            email = owner.get(f"users/{bot['user_id']}")["user"]["email"]
            return stack.enter_context(speaking(server, User(bot["user_id"], email, None, bot["api_key"], MEMBER)))

        yield made


@pytest.fixture
def administrator(owner: Speaker, newcomer: Speaker) -> Speaker:
    check_success(owner.request("PATCH", f"users/{newcomer.id}", role=ADMINISTRATOR))
    return newcomer


def is_refused(speaker: Speaker, method: str, path: str, **fields: object) -> bool:
    reply = speaker.request(method, path, **fields)
    return reply.status_code == 400 and reply.json()["code"] in ("BAD_REQUEST", "UNAUTHORIZED_PRINCIPAL")


def record_of(owner: Speaker, bot: Speaker) -> Json:
    found: Json = owner.get(f"users/{bot.id}")["user"]
    return found


def check_shut_out(bot: Speaker) -> None:
    check_error(bot.request("GET", "users/me"), "UNAUTHORIZED", 401)


@pytest.mark.holds("bots.role", "bots.queues", "bots.role-limit")
def test_a_bot_counts_as_its_owner_at_most(owner: Speaker, administrator: Speaker, member: Speaker, make: Make) -> None:
    bot = make(administrator)
    assert is_refused(administrator, "PATCH", f"bots/{bot.id}", role=OWNER)
    assert is_refused(owner, "PATCH", f"bots/{bot.id}", role=OWNER)
    check_success(administrator.request("PATCH", f"bots/{bot.id}", role=ADMINISTRATOR))
    check_success(bot.request("PATCH", f"users/{administrator.id}", full_name="Still An Administrator"))
    queue = bot.register()
    check_success(owner.request("PATCH", f"users/{administrator.id}", role=MEMBER))
    assert is_refused(bot, "PATCH", f"users/{administrator.id}", role=ADMINISTRATOR)
    assert (record_of(member, bot)["role"], record_of(member, bot)["is_admin"]) == (MEMBER, False)
    queue.check_ends()
    check_success(owner.request("PATCH", f"users/{administrator.id}", role=GUEST))
    check_error(bot.request("GET", "user_groups"))
    check_success(owner.request("PATCH", f"users/{administrator.id}", role=ADMINISTRATOR))
    assert record_of(member, bot)["role"] == ADMINISTRATOR


@pytest.mark.holds("bots.who")
def test_owners_bots_are_touched_by_owners_only(owner: Speaker, administrator: Speaker, make: Make) -> None:
    bot = make(owner)
    for method, path, fields in (
        ("PATCH", f"bots/{bot.id}", {"full_name": "Mine now"}),
        ("PATCH", f"bots/{bot.id}", {"bot_owner_id": administrator.id}),
        ("PATCH", f"users/{bot.id}", {"full_name": "Mine now"}),
        ("DELETE", f"bots/{bot.id}", {}),
        ("POST", f"bots/{bot.id}/api_key/regenerate", {}),
    ):
        assert is_refused(administrator, method, path, **fields)
    bot.get("users/me")
    owner.delete(f"bots/{bot.id}")
    assert is_refused(administrator, "POST", f"users/{bot.id}/reactivate")


@pytest.mark.holds("bots.keys", "bots.read-key", "bots.payload")
def test_only_its_owner_gets_a_key_of_a_bot(owner: Speaker, member: Speaker, make: Make) -> None:
    bot = make(member, bot_type=3, payload_url="https://bots.example.com/")
    path = f"bots/{bot.id}/api_key"
    for speaker in (owner, member):
        assert is_refused(speaker, "GET", path)
    assert f"/{path}/regenerate" in check_error(member.request("GET", path))
    assert is_refused(owner, "POST", f"{path}/regenerate")
    assert is_refused(owner, "PATCH", f"bots/{bot.id}", service_payload_url="https://mine.example.com/")
    bot.get("users/me")
    assert len(member.post(f"{path}/regenerate")["api_key"]) == 32
    check_shut_out(bot)


@pytest.mark.holds("bots.handover", "bots.handover-reading", "bots.told", "authentication.key-lifetime")
def test_a_bot_that_is_given_away_keeps_what_its_new_owner_could_read(
    server: Server, owner: Speaker, member: Speaker, other: Speaker, make: Make
) -> None:
    bot = make(member)
    name = unique("burrow")
    member.post(
        "users/me/subscriptions", subscriptions=[{"name": name}], principals=[member.id, bot.id], invite_only=True
    )
    told, heard = other.send([bot.id], content="between us"), member.send(name, "tea")
    bot.get(f"messages/{told}")
    bot.get(f"messages/{heard}")
    check_success(owner.request("PATCH", f"bots/{bot.id}", bot_owner_id=owner.id))
    check_shut_out(bot)
    key = owner.post(f"bots/{bot.id}/api_key/regenerate")["api_key"]
    with speaking(server, User(bot.id, bot.email, None, key, MEMBER)) as fresh:
        for hidden in (told, heard):
            check_error(fresh.request("GET", f"messages/{hidden}"))
        assert fresh.get("users/me/subscriptions")["subscriptions"] == []
        fresh.get(f"messages/{other.send([bot.id], content='again')}")
    for person in (member, owner):
        narrow = [
            {"operator": "search", "operand": bot.email.partition("-bot@")[0]},
            {"operator": "is", "operand": "dm"},
        ]
        eventually(lambda who=person, about=narrow: who.window("newest", 5, narrow=about)["messages"])  # type: ignore[misc]


@pytest.mark.holds("bots.handover-belongings")
def test_a_bot_that_is_given_away_loses_what_it_kept(
    server: Server, owner: Speaker, member: Speaker, other: Speaker, make: Make
) -> None:
    bot = make(member)
    hidden, shown = upload(bot, "plan.txt"), upload(bot, "shown.txt")
    sent = bot.send([other.id], content=f"[plan]({hidden})")
    bot.post("messages/flags", messages=[sent], op="add", flag="starred")
    bot.post("users/me/alert_words", alert_words=["plum"])
    check_success(bot.request("PUT", "bot_storage", storage={"plum": "blue"}))
    due = int(time.time()) + 86_400
    bot.post("scheduled_messages", type="direct", to=[other.id], content="plum", scheduled_delivery_timestamp=due)
    check_success(owner.request("PATCH", f"bots/{bot.id}", bot_owner_id=owner.id))
    key = owner.post(f"bots/{bot.id}/api_key/regenerate")["api_key"]
    with speaking(server, User(bot.id, bot.email, None, key, MEMBER)) as fresh:
        assert fresh.get("bot_storage")["storage"] == {}
        assert fresh.get("scheduled_messages")["scheduled_messages"] == []
        assert fresh.get("users/me/alert_words")["alert_words"] == []
        assert fresh.get("attachments")["attachments"] == []
        assert fresh.post("register", fetch_event_types=["starred_messages"])["starred_messages"] == []
        assert not may_fetch(fresh, hidden)
        assert not may_fetch(fresh, shown)
        member.send([bot.id, other.id], content=f"[shown]({shown})")
        assert may_fetch(fresh, shown)
    assert may_fetch(member, hidden)
    assert may_fetch(other, hidden)


@pytest.mark.holds("authentication.deactivated", "authentication.key-lifetime")
def test_no_key_of_a_bot_comes_back_with_it(member: Speaker, make: Make) -> None:
    bot = make(member)
    member.delete(f"bots/{bot.id}")
    check_shut_out(bot)
    member.post(f"users/{bot.id}/reactivate")
    check_shut_out(bot)
