"""Outgoing webhooks: who is called, with what, what is answered, and what happens when nothing is."""

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from urllib.parse import parse_qs

import pytest

from tests.harness.bot_server import OK, Answer, BotServer, Posted, bot_server
from tests.harness.realm import Realm
from tests.harness.server import Channel
from tests.harness.stage import Stage, at_once
from tests.harness.talk import Json, Queue, Speaker, check_success, eventually, unique


@pytest.fixture
def theirs() -> Iterator[BotServer]:
    with bot_server() as server:
        yield server


@pytest.fixture
def channel(realm: Realm, stage: Stage) -> Channel:
    return stage.channel(realm.member, realm.owner, realm_id=realm.id)


class Bot:
    """An outgoing-webhook bot, of the member's unless somebody else is named."""

    def __init__(self, realm: Realm, url: str, interface: int = 1, owner: Speaker | None = None) -> None:
        owner = owner or realm.member
        self.name = unique("Tea Bot")
        fields = {"full_name": self.name, "short_name": self.name.lower().replace(" ", "-"), "bot_type": 3}
        made = owner.post("bots", payload_url=json.dumps(url), interface_type=interface, **fields)
        self.id = made["user_id"]
        state = owner.post("register", event_types=[], fetch_event_types=["realm_bot"])
        [own] = [bot for bot in state["realm_bots"] if bot["user_id"] == self.id]
        self.token = own["services"][0]["token"]
        self.mention = f"@**{self.name}**"


def said_by(queue: Queue, bot_id: int) -> Json:
    """The next message of the bot's."""
    is_theirs = lambda event: event["type"] == "message" and event["message"]["sender_id"] == bot_id  # noqa: E731
    message: Json = queue.until(is_theirs)[-1]["message"]
    return message


def test_a_mentioned_bot_is_called_and_answers_in_the_topic(realm: Realm, channel: Channel, theirs: BotServer) -> None:
    theirs.says({"content": "*Green* or black?"})
    bot = Bot(realm, f"{theirs.url}/hook?a=1")
    with realm.owner.register() as queue:
        sent = realm.member.send(channel.stream_id, "tea", f"{bot.mention} please")
        posted = theirs.next()
        answer = said_by(queue, bot.id)
    assert (posted.path, posted.headers["content-type"]) == ("/hook?a=1", "application/json")
    body = posted.json
    message = body.pop("message")
    [(email,)] = realm.stage.sql("select email from account where id = %s", bot.id)
    assert body == {
        "bot_email": email,
        "bot_full_name": bot.name,
        "data": f"{bot.mention} please",
        "token": bot.token,
        "trigger": "mention",
    }
    assert (message["id"], message["type"], message["content"]) == (sent, "stream", f"{bot.mention} please")
    assert (message["display_recipient"], message["subject"]) == (channel.name, "tea")
    assert (message["sender_id"], message["stream_id"]) == (realm.member.id, channel.stream_id)
    assert (answer["stream_id"], answer["subject"]) == (channel.stream_id, "tea")
    assert answer["content"] == "*Green* or black?"


def test_a_direct_message_calls_the_bot_and_everybody_in_it_hears_the_answer(realm: Realm, theirs: BotServer) -> None:
    # As programs of this family answer: JSON, but typed as HTML.
    theirs.says({"response_string": "Served."}, kind="text/html")
    bot = Bot(realm, theirs.url)
    with realm.owner.register() as queue:
        realm.member.send([bot.id, realm.owner.id], content="tea, please")
        assert theirs.next().json["trigger"] == "direct_message"
        answer = said_by(queue, bot.id)
    people = sorted([bot.id, realm.owner.id, realm.member.id])
    assert ([person["id"] for person in answer["display_recipient"]], answer["content"]) == (people, "Served.")


def test_the_other_interface_posts_a_form(realm: Realm, channel: Channel, theirs: BotServer) -> None:
    theirs.says({"text": "Served."})
    bot = Bot(realm, theirs.url, interface=2)
    with realm.member.register() as queue:
        realm.member.send(channel.stream_id, "tea", f"{bot.mention} please")
        form = parse_qs(theirs.next().body.decode())
        assert said_by(queue, bot.id)["content"] == "Served."
    assert (form["token"], form["text"]) == ([bot.token], [f"{bot.mention} please"])
    assert (form["channel_name"], form["user_id"]) == ([channel.name], [f"U{realm.member.id}"])


@pytest.mark.parametrize("silence", [{"response_not_required": True, "content": "no"}, {}, "", []])
def test_a_bot_need_not_answer(realm: Realm, theirs: BotServer, silence: object) -> None:
    theirs.says(silence)
    bot = Bot(realm, theirs.url)
    with realm.member.register() as queue:
        sent = realm.member.send([bot.id], content="tea")
        theirs.next()
        theirs.says({"content": "now"})
        realm.member.send([bot.id], content="coffee")
        said_by(queue, bot.id)
    newest = realm.member.window(before=10)["messages"]
    assert [message["sender_id"] for message in newest if message["id"] >= sent].count(bot.id) == 1
    assert waiting(realm, bot) == 0


def waiting(realm: Realm, bot: Bot) -> int:
    [(count,)] = realm.stage.sql("select count(*) from hook_call where bot_id = %s", bot.id)
    assert isinstance(count, int)
    return count


def test_nobody_else_calls_a_bot(realm: Realm, channel: Channel, stage: Stage, theirs: BotServer) -> None:
    bot, other = Bot(realm, theirs.url), realm.bot(realm.member)
    private = stage.channel(realm.owner, realm_id=realm.id, invite_only=True)
    for text in ("nothing", f"@_**{bot.name}**", f"> {bot.mention}"):
        realm.member.send(channel.stream_id, "tea", text)
    other.send(channel.stream_id, "tea", f"{bot.mention} bots do not call bots")
    realm.owner.send(private.stream_id, "tea", f"{bot.mention} out of its sight")
    realm.member.send([bot.id], content="mark")
    assert theirs.next().json["data"] == "mark"
    assert theirs.posted.empty()


def test_a_server_that_fails_once_is_called_again(realm: Realm, theirs: BotServer) -> None:
    theirs.says({}, status=503)
    bot = Bot(realm, theirs.url)
    with realm.member.register() as queue:
        realm.member.send([bot.id], content="tea")
        theirs.next()
        theirs.says({"content": "Sorry. Served."})
        theirs.next()
        assert said_by(queue, bot.id)["content"] == "Sorry. Served."


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "value", "reason"),
    [
        (404, {}, "404"),
        (302, {}, "302"),
        (200, {"content": 5}, "not a text"),
        (200, {"content": "x" * 10_001}, "too long"),
    ],
)
def test_the_owner_is_told_of_a_call_that_came_to_nothing(
    realm: Realm, theirs: BotServer, status: int, value: Json, reason: str
) -> None:
    theirs.says(value, status=status)
    bot = Bot(realm, theirs.url)
    with realm.member.register() as queue:
        realm.owner.send([bot.id], content="tea")
        theirs.next()
        is_notice = lambda event: event["type"] == "message" and bot.name in event["message"]["content"]  # noqa: E731
        notice = queue.until(is_notice)[-1]["message"]
    assert notice["sender_email"].startswith("notification-bot@")
    assert reason in notice["content"]
    assert waiting(realm, bot) == 0


def test_an_answer_is_sent_once_however_often_the_call_is_made(realm: Realm, theirs: BotServer) -> None:
    theirs.says({"content": "Served."})
    bot = Bot(realm, theirs.url)
    with realm.member.register() as queue:
        sent = realm.member.send([bot.id], content="tea")
        theirs.next()
        said_by(queue, bot.id)
        # As if the worker had died before it could forget the call.
        realm.stage.sql(
            "insert into hook_call (bot_id, message_id) values (%s, %s) on conflict do nothing", bot.id, sent
        )
        assert theirs.next().json["message"]["id"] == sent
        later = realm.member.send([bot.id], content="more")
        theirs.next()
        said_by(queue, bot.id)
    said = [message for message in realm.member.window(before=10)["messages"] if message["sender_id"] == bot.id]
    assert len([message for message in said if message["id"] < later]) == 1


def test_a_bot_that_is_off_is_not_called(realm: Realm, channel: Channel, theirs: BotServer) -> None:
    gone, bot = Bot(realm, theirs.url), Bot(realm, theirs.url)
    check_success(realm.member.request("DELETE", f"bots/{gone.id}"))
    realm.member.send(channel.stream_id, "tea", f"{gone.mention} {bot.mention}")
    assert theirs.next().json["bot_full_name"] == bot.name
    assert theirs.posted.empty()


class Slow:
    """A bot's server that answers nobody until it is told to; it counts who waits."""

    def __init__(self, server: BotServer) -> None:
        self.url = server.url
        self._over = threading.Event()
        self._changed = threading.Condition()
        self._waiting: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        """By path: how many ever waited at once."""
        server.answer = self._answer

    def _answer(self, posted: Posted) -> Answer:
        with self._changed:
            self._waiting[posted.path] += 1
            self.most[posted.path] = max(self.most[posted.path], self._waiting[posted.path])
            self._changed.notify_all()
        self._over.wait(9)
        with self._changed:
            self._waiting[posted.path] -= 1
        return OK

    def wait_for(self, counts: Mapping[str, int]) -> None:
        """Until so many wait at each path."""
        with self._changed:
            are_there = lambda: all(self._waiting[path] >= count for path, count in counts.items())  # noqa: E731
            assert self._changed.wait_for(are_there, 30), self._waiting

    def answer(self) -> None:
        self._over.set()


@pytest.fixture
def slow(theirs: BotServer) -> Iterator[Slow]:
    slow = Slow(theirs)
    yield slow
    slow.answer()


def ask(speaker: Speaker, bots: Sequence[Bot], times: int) -> None:
    """Speak to all of the bots together, so often: each of them is called so often, nearly at the same time."""
    at_once([partial(speaker.send, [bot.id for bot in bots], content="tea")] * times)


def settle(realm: Realm, bots: Sequence[Bot]) -> None:
    eventually(lambda: not any(waiting(realm, bot) for bot in bots))


@pytest.mark.timed
def test_slow_bots_of_one_owner_do_not_hold_up_those_of_others(realm: Realm, slow: Slow) -> None:
    many = [Bot(realm, f"{slow.url}/many") for _ in range(4)]
    other = Bot(realm, f"{slow.url}/other", owner=realm.owner)
    ask(realm.member, many, 8)
    realm.owner.send([other.id], content="and mine?")
    slow.wait_for({"/many": 24, "/other": 1})
    slow.answer()
    settle(realm, [*many, other])
    assert slow.most["/many"] == 24


@pytest.mark.timed
def test_slow_bots_of_one_organization_do_not_hold_up_those_of_others(realm: Realm, stage: Stage, slow: Slow) -> None:
    elsewhere = Realm(stage)
    many = [Bot(realm, f"{slow.url}/many", owner=one) for one in (realm.member, realm.owner, realm.moderator) * 3]
    other = Bot(elsewhere, f"{slow.url}/other")
    ask(realm.administrator, many, 6)
    elsewhere.member.send([other.id], content="and mine?")
    slow.wait_for({"/many": 48, "/other": 1})
    slow.answer()
    settle(realm, many)
    assert slow.most["/many"] == 48


@pytest.mark.timed
def test_one_slow_bot_is_called_ten_times_at_once_at_most(realm: Realm, slow: Slow) -> None:
    one, other = Bot(realm, f"{slow.url}/one"), Bot(realm, f"{slow.url}/other")
    ask(realm.member, [one], 3)
    slow.wait_for({"/one": 3})
    ask(realm.member, [one], 9)
    realm.member.send([other.id], content="and you?")
    slow.wait_for({"/one": 10, "/other": 1})
    slow.answer()
    settle(realm, [one, other])
    assert slow.most["/one"] == 10
